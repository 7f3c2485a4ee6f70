// The one place that says which event does what to an address space.
#include "space_private.h"

void vmv_space_apply(struct vmv_space *space, const struct vmv_event *event) {
    if (event->space != space->id) return;
    switch (event->type) {
    case VMV_EV_FAULT:
        return vmv_space_fault(space, event);
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        return vmv_space_run(space, event);
    case VMV_EV_MADVISE:
        return vmv_space_advise(space, event);
    case VMV_EV_PUNCH:
        if (event->ret < 0) return;
        return vmv_space_file_gone(space, event, event->addr,
                                   event->len > UINT64_MAX - event->addr ? UINT64_MAX : event->addr + event->len);
    case VMV_EV_TRUNCATE:
        if (event->ret < 0) return;
        return vmv_space_file_gone(space, event, event->addr, UINT64_MAX);
    case VMV_EV_MAPS:
        return vmv_space_replace_maps(space, event);
    case VMV_EV_EXEC:
        return vmv_space_clear(space);
    case VMV_EV_FRAME:
        space->last_frame = event->frame;
        space->last_frame_t = event->t;
        return;
    default:
        if (event->ret >= 0) vmv_space_call(space, event);
    }
}
