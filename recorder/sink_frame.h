// Writes a frame: its registers, page runs and contents, settled by what the trace's world knows of each page.
#ifndef REC_SINK_FRAME_H
#define REC_SINK_FRAME_H

#include "sink.h"

void sink_frame_write(struct vmv_writer *writer, struct sink_frame *frame);

#endif
