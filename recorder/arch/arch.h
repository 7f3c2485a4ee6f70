// The processor this recorder is built for.
#ifndef REC_ARCH_H
#define REC_ARCH_H

#if defined(__x86_64__) && defined(__LP64__)
#include "x86_64.h"
#else
#error "vmvis-record knows x86-64; another processor needs its file in recorder/arch/"
#endif

#endif
