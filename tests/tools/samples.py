"""The samples, how the tests run them, and how they end."""

from vmvis import sample

# name -> (arguments, exit status)
SAMPLES = {
    "exec_chain": ([], 0),
    "file_map": ([], 0),
    "fork_cow": ([], 0),
    "heap_growth": ([], 0),
    "madvise_dontneed": ([], 0),
    "mmap_churn": ([], 0),
    "mprotect_guard": ([], 0),
    "mremap_move": ([], 0),
    "named_regions": ([], 0),
    "null_crash": ([], -11),
    "random_fill": (["--mb", "4"], 0),
    "shared_memory": ([], 0),
    "stack_growth": ([], 0),
    "threads": ([], 0),
    "variable": (["--changes", "5"], 0),
    "vfork_spawn": ([], 0),
}


def command(name, *more):
    return [sample(name), *SAMPLES[name][0], *more]


def status(name):
    return SAMPLES[name][1]
