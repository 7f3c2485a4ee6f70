#include "call.h"

#include "kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum call call_of_number(int64_t number, const uint64_t args[6]) {
    switch (number) {
    case SYS_mmap:
        return CALL_MMAP;
    case SYS_munmap:
        return CALL_MUNMAP;
    case SYS_mremap:
        return CALL_MREMAP;
    case SYS_mprotect:
        return CALL_MPROTECT;
    case SYS_pkey_mprotect:
        return CALL_PKEY_MPROTECT;
    case SYS_madvise:
        return CALL_MADVISE;
    case SYS_process_madvise:
        return CALL_PROCESS_MADVISE;
    case SYS_brk:
        return CALL_BRK;
    case SYS_shmat:
        return CALL_SHMAT;
    case SYS_shmdt:
        return CALL_SHMDT;
    case SYS_remap_file_pages:
        return CALL_REMAP_FILE_PAGES;
    case SYS_mseal:
        return CALL_MSEAL;
    case SYS_map_shadow_stack:
        return CALL_MAP_SHADOW_STACK;
    case SYS_fallocate:
        return CALL_FALLOCATE;
    case SYS_truncate:
        return CALL_TRUNCATE;
    case SYS_ftruncate:
        return CALL_FTRUNCATE;
    case SYS_execve:
        return CALL_EXECVE;
    case SYS_execveat:
        return CALL_EXECVEAT;
    case SYS_clone:
        return CALL_CLONE;
    case SYS_clone3:
        return CALL_CLONE3;
    case SYS_userfaultfd:
        return CALL_USERFAULTFD;
    case SYS_ioctl:
        return CALL_IOCTL_UFFD;
    case SYS_prctl:
        if (args[0] == PR_SET_SECCOMP) return CALL_SECCOMP;
        return args[0] == CALL_MARK_OPTION ? CALL_MARK : CALL_SET_VMA;
    case SYS_ptrace:
        return CALL_PTRACE;
    case SYS_seccomp:
        return CALL_SECCOMP;
    default:
        return CALL_NONE;
    }
}

bool call_changes_mappings(enum call call) {
    switch (call) {
    case CALL_MMAP:
    case CALL_MUNMAP:
    case CALL_MREMAP:
    case CALL_MPROTECT:
    case CALL_PKEY_MPROTECT:
    case CALL_MADVISE:
    case CALL_BRK:
    case CALL_SHMAT:
    case CALL_SHMDT:
    case CALL_REMAP_FILE_PAGES:
    case CALL_MSEAL:
    case CALL_MAP_SHADOW_STACK:
    case CALL_SET_VMA:
    case CALL_FOREIGN:
        return true;
    default:
        return false;
    }
}

bool call_may_be_partial(enum call call, const uint64_t args[6], int64_t ret) {
    if (ret >= 0) return false;
    switch (call) {
    case CALL_MPROTECT: // earlier mappings of the range are already changed when a later one fails
    case CALL_PKEY_MPROTECT:
    case CALL_MADVISE:
        return ret == -ENOMEM || ret == -EACCES || ret == -EAGAIN || ret == -EPERM;
    case CALL_MREMAP:
        return true; // of several mappings (6.17) some may have been moved
    case CALL_REMAP_FILE_PAGES:
        return true;
    case CALL_MMAP: // what lay there may be unmapped already; at the limit of mappings this would be asked for often
        return (args[3] & MAP_FIXED) && !(args[3] & MAP_FIXED_NOREPLACE) && (ret == -ENOMEM || ret == -EAGAIN);
    default:
        return false;
    }
}

static void range(struct vmv_event *event, enum vmv_event_type type, uint64_t addr, uint64_t len) {
    event->type = type;
    event->addr = addr;
    event->len = len;
}

static bool decode_mmap(const uint64_t args[6], struct vmv_event *event) {
    range(event, VMV_EV_MMAP, args[0], args[1]);
    event->prot = (uint32_t)args[2];
    event->flags = (uint32_t)args[3];
    if (!(event->flags & MAP_ANONYMOUS)) event->offset = args[5];
    return true;
}

static bool decode_mremap(const uint64_t args[6], struct vmv_event *event) {
    range(event, VMV_EV_MREMAP, 0, args[2]);
    event->old_addr = args[0];
    event->old_len = args[1];
    event->flags = (uint32_t)args[3];
    if (event->flags & MREMAP_FIXED) event->addr = args[4];
    return true;
}

static bool decode_map_shadow_stack(const uint64_t args[6], struct vmv_event *event) {
    range(event, VMV_EV_MMAP, args[0], args[1]);
    event->prot = PROT_READ | PROT_WRITE;
    event->flags = MAP_PRIVATE | MAP_ANONYMOUS;
    return true;
}

static bool decode_file(enum call call, const uint64_t args[6], struct vmv_event *event) {
    if (call == CALL_FALLOCATE) {
        range(event, VMV_EV_PUNCH, args[2], args[3]);
    } else {
        range(event, VMV_EV_TRUNCATE, args[1], 0);
    }
    return true;
}

bool call_decode(enum call call, const uint64_t args[6], int64_t ret, uint64_t page_size, struct vmv_event *event) {
    event->ret = ret;
    switch (call) {
    case CALL_MMAP:
        return decode_mmap(args, event);
    case CALL_MUNMAP:
        range(event, VMV_EV_MUNMAP, args[0], args[1]);
        return true;
    case CALL_MREMAP:
        return decode_mremap(args, event);
    case CALL_MPROTECT:
    case CALL_PKEY_MPROTECT:
        range(event, VMV_EV_MPROTECT, args[0], args[1]);
        event->prot = (uint32_t)args[2];
        return true;
    case CALL_MADVISE:
        range(event, VMV_EV_MADVISE, args[0], args[1]);
        event->prot = (uint32_t)args[2];
        return true;
    case CALL_BRK:
        range(event, VMV_EV_BRK, args[0], 0);
        return true;
    case CALL_SHMAT:
        range(event, VMV_EV_SHMAT, args[1], 0);
        return true;
    case CALL_SHMDT:
        range(event, VMV_EV_SHMDT, args[0], 0);
        return true;
    case CALL_REMAP_FILE_PAGES:
        range(event, VMV_EV_REMAP, args[0], args[1]);
        event->offset = args[3] * page_size;
        return true;
    case CALL_MSEAL:
        range(event, VMV_EV_MSEAL, args[0], args[1]);
        return true;
    case CALL_MAP_SHADOW_STACK:
        return decode_map_shadow_stack(args, event);
    case CALL_FALLOCATE:
    case CALL_TRUNCATE:
    case CALL_FTRUNCATE:
        return decode_file(call, args, event);
    case CALL_SET_VMA:
        range(event, VMV_EV_SETNAME, args[2], args[3]);
        return true;
    default:
        return false;
    }
}
