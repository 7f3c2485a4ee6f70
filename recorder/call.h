// The memory calls that are traced, and what one means as an event. Pure: from arguments and result alone.
#ifndef REC_CALL_H
#define REC_CALL_H

#include "event.h"

enum call { // architecture-independent; arch/ has the numbers
    CALL_NONE,
    CALL_MMAP,
    CALL_MUNMAP,
    CALL_MREMAP,
    CALL_MPROTECT,
    CALL_PKEY_MPROTECT,
    CALL_MADVISE,
    CALL_PROCESS_MADVISE,
    CALL_BRK,
    CALL_SHMAT,
    CALL_SHMDT,
    CALL_REMAP_FILE_PAGES,
    CALL_MSEAL,
    CALL_MAP_SHADOW_STACK,
    CALL_FALLOCATE, // with FALLOC_FL_PUNCH_HOLE
    CALL_TRUNCATE,
    CALL_FTRUNCATE,
    CALL_EXECVE,
    CALL_EXECVEAT,
    CALL_CLONE,  // with CLONE_UNTRACED
    CALL_CLONE3, // flags are in memory: always seen
    CALL_USERFAULTFD,
    CALL_IOCTL_UFFD, // ioctl with UFFDIO_REGISTER or USERFAULTFD_IOC_NEW
    CALL_SET_VMA,    // prctl(PR_SET_VMA)
    CALL_MARK,       // prctl(VMVIS_MARK)
    CALL_SECCOMP,    // seccomp, or prctl(PR_SET_SECCOMP)
    CALL_PTRACE,     // one that makes a tracer
    CALL_FOREIGN,    // by another convention (32-bit, x32): known by what it changes
    CALL_COUNT
};

enum { CALL_MARK_OPTION = 0x564d5631 }; // "VMV1", as in samples/vmvis_mark.h

// The call with this system call number; the filter has looked at the arguments already. NONE: not one of them.
enum call call_of_number(int64_t number, const uint64_t args[6]);

// Whether the call may change the mappings of the caller's address space (and must be serialised within it).
bool call_changes_mappings(enum call call);

// Fills the type and the fields that arguments and result alone give. Returns false where there is no event: a call
// that the recorder only guards. Names, files, lengths of shared memory and the break before are the caller's to add.
bool call_decode(enum call call, const uint64_t args[6], int64_t ret, uint64_t page_size, struct vmv_event *event);

// Whether the call may have failed half-way, so that the maps must be read again.
bool call_may_be_partial(enum call call, const uint64_t args[6], int64_t ret);

#endif
