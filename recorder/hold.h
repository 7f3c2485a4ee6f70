// Holding the running threads of an address space for a moment.
#ifndef REC_HOLD_H
#define REC_HOLD_H

#include "tracer.h"

struct hold {
    struct tracer *tracer;
    struct rec_space *space;
    struct tracee *at;
    size_t awaited;
};

bool hold_is_of(const struct tracee *tracee, const struct rec_space *space);
// Interrupts those that run, and those whose sleep's registers are not known yet if it goes on unseen; the others of
// the space are left asleep. `at`: a tracee that stands already, or NULL. A thread that does not stop soon is left
// running. tracee.held: it stands because of this; tracee.stands: in a stop that is to be dispatched later.
void hold_threads(struct hold *hold);
void hold_let_go(struct hold *hold);
// Resuming many threads is quick only if the woken ones do not preempt the tracer. At other times real-time priority
// would only keep the tracer away from the tracee's processor, where a stop costs less than half.
void hold_prefer_tracer(bool prefer);

#endif
