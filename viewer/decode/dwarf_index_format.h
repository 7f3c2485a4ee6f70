// What begins an encoded index; the last byte is the format's version.
#ifndef DWARF_INDEX_FORMAT_H
#define DWARF_INDEX_FORMAT_H

#include <stdint.h>

static const uint8_t dwarf_index_magic[8] = {'v', 'm', 'v', 'd', 'w', 'f', 0, 2};

#endif
