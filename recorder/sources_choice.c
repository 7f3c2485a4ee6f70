// Which of the sources that work is used, and the sentences that say so.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sources.h"

static void say(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static bool records_work(const struct sources *s) { return s->perf && s->wp_async; }

static void say_why_no_perf(const struct sources *s, char *text, size_t size) {
    if (s->perf_errno == EACCES || s->perf_errno == EPERM) {
        if (s->perf_paranoid == -100)
            say(text, size, "perf page-fault records are refused; run as root");
        else
            say(text, size,
                "perf page-fault records are refused (perf_event_paranoid %d); run as root, give vmvis-record "
                "CAP_PERFMON, or set kernel.perf_event_paranoid to 2",
                s->perf_paranoid);
    } else
        say(text, size, "this kernel or container has no perf page-fault records (%s)", strerror(s->perf_errno));
}

static void say_why_no_wp_async(const struct sources *s, char *text, size_t size) {
    if (!s->uffd_full && !s->uffd_user)
        say(text, size, "userfaultfd, and with it asynchronous write-protection, is not available here");
    else
        say(text, size, "%s is missing (Linux 6.7 or newer has it)",
            s->pagemap_scan ? "asynchronous write-protection" : "PAGEMAP_SCAN");
}

static void say_why_no_records(const struct sources *s, char *text, size_t size) {
    if (!s->perf) say_why_no_perf(s, text, size);
    if (!s->perf && !s->wp_async) say(text, size, "; ");
    if (!s->wp_async) say_why_no_wp_async(s, text, size);
}

static void say_why_no_uffd(const struct sources *s, char *text, size_t size) {
    if (s->uffd_errno == EPERM || s->uffd_errno == EACCES)
        say(text, size,
            "userfaultfd for all faults is refused to the program; run it as root or set vm.unprivileged_userfaultfd "
            "to 1");
    else
        say(text, size, "this kernel or container has no userfaultfd (%s)", strerror(s->uffd_errno));
}

static const char *changed_text(const struct sources *s) {
    switch (s->changed) {
    case SOURCES_CHANGED_WP_ASYNC:
        return "asynchronous write-protection";
    case SOURCES_CHANGED_SOFT_DIRTY:
        return "soft-dirty bits";
    case SOURCES_CHANGED_HASH:
        return "comparing page hashes";
    default:
        return "nothing";
    }
}

static void explain_records(struct sources *s) {
    say(s->why, sizeof s->why, "records: page-fault records and asynchronous write-protection work here");
    if (!s->perf_kernel)
        say(s->why, sizeof s->why,
            "; faults inside system calls are not recorded, and some may be lost in storms, because a plain user's "
            "rings "
            "are small (perf_event_paranoid %d, perf_event_mlock_kb); run as root for all",
            s->perf_paranoid);
}

static void explain_uffd(struct sources *s, bool asked) {
    say(s->why, sizeof s->why, "uffd: every first touch is held until it is recorded; written pages by %s",
        changed_text(s));
    if (asked) return;
    say(s->why, sizeof s->why, "; not records: ");
    say_why_no_records(s, s->why, sizeof s->why);
}

static void explain_frames(struct sources *s, bool asked) {
    say(s->why, sizeof s->why, "frames: residency and written pages are known per frame, by %s", changed_text(s));
    if (asked) return;
    say(s->why, sizeof s->why, "; not records: ");
    say_why_no_records(s, s->why, sizeof s->why);
}

static void use(struct sources *s, enum vmv_source faults, bool asked) {
    s->faults = faults;
    s->why[0] = 0;
    if (faults == VMV_SOURCE_RECORDS)
        explain_records(s);
    else if (faults == VMV_SOURCE_UFFD)
        explain_uffd(s, asked);
    else if (faults == VMV_SOURCE_FRAMES)
        explain_frames(s, asked);
    else {
        s->changed = SOURCES_CHANGED_NONE;
        say(s->why, sizeof s->why, "none: pages are not tracked, as asked for");
    }
}

static int refuse(const struct sources *s, const char *asked, char *error, size_t size,
                  void (*reason)(const struct sources *, char *, size_t)) {
    error[0] = 0;
    say(error, size, "--faults=%s cannot work here: ", asked);
    reason(s, error, size);
    return -ENOTSUP;
}

static void say_why_no_pagemap(const struct sources *s, char *text, size_t size) {
    say(text, size,
        "/proc/PID/pagemap cannot be read here, so pages cannot be tracked; mount /proc, or use --faults=none");
}

static void use_nothing(struct sources *s) {
    s->faults = VMV_SOURCE_NONE;
    s->changed = SOURCES_CHANGED_NONE;
    snprintf(s->why, sizeof s->why,
             "none: /proc/PID/pagemap cannot be read here: memory calls are known, pages are not");
}

int sources_resolve(struct sources *s, const char *asked, char *error, size_t error_size) {
    bool none = strcmp(asked, "none") == 0, automatic = strcmp(asked, "auto") == 0;
    if (!s->pagemap && automatic) {
        use_nothing(s);
        return 0;
    }
    if (!s->pagemap && !none) return refuse(s, asked, error, error_size, say_why_no_pagemap);
    if (automatic) {
        use(s, records_work(s) ? VMV_SOURCE_RECORDS : s->uffd_full ? VMV_SOURCE_UFFD : VMV_SOURCE_FRAMES, false);
        return 0;
    }
    if (strcmp(asked, "records") == 0) {
        if (!records_work(s)) return refuse(s, asked, error, error_size, say_why_no_records);
        use(s, VMV_SOURCE_RECORDS, true);
    } else if (strcmp(asked, "uffd") == 0) {
        if (!s->uffd_full) return refuse(s, asked, error, error_size, say_why_no_uffd);
        use(s, VMV_SOURCE_UFFD, true);
    } else if (strcmp(asked, "frames") == 0)
        use(s, VMV_SOURCE_FRAMES, true);
    else if (none)
        use(s, VMV_SOURCE_NONE, true);
    else {
        snprintf(error, error_size, "--faults=%s: there is auto, records, uffd, frames and none", asked);
        return -EINVAL;
    }
    return 0;
}
