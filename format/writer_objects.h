// Mapped files on their way into OBJECT chunks: identity at once, bytes later, slice by slice.
#ifndef VMV_WRITER_OBJECTS_H
#define VMV_WRITER_OBJECTS_H

#include "writer.h"
#include "writer_output.h"

struct vmv_pending_object; // a file whose bytes are still to be read

struct vmv_objects {
    struct vmv_output *output;
    struct vmv_out *identities; // encoded, by number - 1
    uint32_t count, room;
    struct vmv_pending_object *pending; // in order of arrival
    size_t pending_count, pending_room;
    struct vmv_out identity;
    struct vmv_object_slice *slices; // OBJECT_SLICES of them, where one is made
};
void vmv_objects_free(struct vmv_objects *objects);
uint32_t vmv_objects_add(struct vmv_objects *objects, const struct vmv_object_identity *identity, int fd, uint64_t t);
void vmv_objects_give_up(struct vmv_objects *objects);           // what is not embedded yet will not be
bool vmv_objects_slice(struct vmv_objects *objects, uint64_t t); // false: nothing left
void vmv_objects_rest(struct vmv_objects *objects, uint64_t t);  // all that is left, on two processors

#endif
