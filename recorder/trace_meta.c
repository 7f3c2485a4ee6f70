#include "trace_meta.h"

#include "arch.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static size_t count_strings(char **strings) {
    size_t count = 0;
    while (strings[count]) count++;
    return count;
}

static void processor_name(char *out, size_t size) {
    char line[512];
    snprintf(out, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            out[strcspn(out, "\n")] = 0;
            break;
        }
    if (file) fclose(file);
}

static uint64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct vmv_writer *trace_begin(int fd, const struct options *options, const struct sources *sources,
                               const struct trace_subject *subject, char *error, size_t error_size) {
    struct utsname system;
    char machine[256], kernel[512], excluded[2048], watched[1200];
    uname(&system);
    processor_name(machine, sizeof machine);
    snprintf(kernel, sizeof kernel, "%s %s", system.release, system.version);
    exclude_text(&options->exclude, excluded, sizeof excluded);
    watch_text(&options->watch, watched, sizeof watched);
    struct vmv_meta meta = {.program = (const char *const *)subject->program,
                            .program_count = count_strings(subject->program),
                            .directory = subject->directory,
                            .pid = subject->pid,
                            .started = realtime_ns(),
                            .start_monotonic_ns = subject->start,
                            .arch = ARCH_NAME,
                            .page_size = (uint32_t)sysconf(_SC_PAGESIZE),
                            .machine = machine,
                            .kernel = kernel,
                            .recorder = VMVIS_VERSION,
                            .source_faults = sources_faults_name(sources),
                            .source_maps = options->maps_frames ? "frames" : "stops",
                            .source_why = sources->why,
                            .interval_ns = options->interval_ns,
                            .interval_auto = options->interval_auto,
                            .budget_percent = options->budget_percent,
                            .stack_bytes = options->stack_bytes,
                            .content = options->content ? "changed" : "none",
                            .embed_limit = options->embed_limit,
                            .attached = options->attach != 0,
                            .no_follow = options->no_follow,
                            .split_huge = options->split_huge,
                            .max_size = options->max_size,
                            .faults_asked = options_faults_word(options->faults),
                            .exclude = excluded,
                            .watch = watched,
                            .ring = options->ring ? options->ring : "",
                            .user = options->user ? options->user : "",
                            .register_set = ARCH_REGISTER_SET};
    if (subject->environment) {
        meta.environment = (const char *const *)subject->environment;
        meta.environment_count = count_strings(subject->environment);
    }
    return vmv_writer_create(fd, &meta, error, error_size);
}
