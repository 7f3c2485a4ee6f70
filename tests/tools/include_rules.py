"""The include rules of docs/DESIGN.md: data flows down the layout and never back.

Each folder names what its files may include: folders of the project, and the libraries beyond libc. Prints every
breach as file:line and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

# folder -> (project folders whose headers it may include, libraries it may use)
FOLDERS = {
    "samples": ({"samples"}, set()),
    "format": ({"format"}, {"zstd", "xxhash"}),
    "recorder": ({"recorder", "recorder/arch", "format"}, {"ptrace", "xxhash"}),
    "recorder/arch": ({"recorder", "recorder/arch", "format"}, {"ptrace", "arch"}),
    "viewer/timeline": ({"viewer/timeline", "format"}, set()),
    "viewer/decode": ({"viewer/decode", "viewer/timeline", "format"},
                      {"elf", "dwarf", "capstone", "zstd", "xxhash", "zlib", "lzma", "iberty"}),
    "viewer/dwarf": ({"viewer/dwarf", "viewer/decode", "format"}, {"dwarf"}),
    "viewer/inspect": ({"viewer/inspect", "viewer/decode", "viewer/timeline", "format"}, set()),
    "viewer/ui": ({"viewer/ui"}, {"freetype", "fontconfig", "png"}),
    "viewer/views": ({"viewer/views", "viewer/ui", "viewer/decode", "viewer/timeline", "format"}, set()),
    "viewer/replay": ({"viewer/replay", "viewer/views", "viewer/ui", "viewer/decode", "viewer/timeline", "format"},
                      set()),
}

# library -> its headers
LIBRARIES = {
    "zstd": r"zstd(_errors)?\.h|zdict\.h",
    "xxhash": r"xxh(ash|3)\.h",
    "elf": r"(libelf|gelf|elfutils)(/.*)?\.h|libelf/.*",
    "dwarf": r"(libdwarf/)?(libdwarf|dwarf)\.h",
    "capstone": r"capstone/.*",
    "zlib": r"zlib\.h",
    "lzma": r"lzma\.h",
    "iberty": r"(libiberty/)?(demangle|libiberty)\.h",
    "freetype": r"ft2build\.h|freetype/.*",
    "fontconfig": r"fontconfig/.*",
    "png": r"png\.h",
    "sdl": r"SDL2?(/.*)?\.h|SDL_.*",
    "ptrace": r"sys/ptrace\.h|linux/ptrace\.h",
    "arch": r"sys/(user|reg)\.h|asm/(ptrace|prctl|unistd_.*|unistd_64)\.h",
}

# libraries that only the files named may include, beyond what the folder may
ONLY_IN_FILES = {"sdl": {"viewer/ui/platform.c"}}
# libraries that at most one file of a folder may include, whichever it is
ONE_FILE_OF = {"elf": "recorder"}
# files that must be testable without a process: no ptrace
PURE = {"recorder/stop.c", "recorder/stop.h", "recorder/call.c", "recorder/call.h"}
ARCH_WORDS = re.compile(r"\b(__x86_64__|__aarch64__|user_regs_struct|orig_rax|NT_X86_XSTATE)\b")
SAMPLE_HEADERS = {"vmvis_mark.h", "truth.h", "calls.h"}

_INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.[ch]")):
            yield folder, path


def header_folders(root):
    """Base name -> folders that have a header of that name."""
    found = {}
    for folder, path in sources(root):
        if path.suffix == ".h":
            found.setdefault(path.name, []).append(folder)
    return found


def library_of(name):
    return next((lib for lib, pattern in LIBRARIES.items() if re.fullmatch(pattern, name)), None)


def check_project_include(folder, path, name, owners):
    if "/" in name:
        return f'"{name}" names a folder: headers are included by their base name'
    if name not in owners:
        return f'"{name}" is no header of the project'
    if folder == "samples" and name not in SAMPLE_HEADERS:
        return f'a sample includes nothing of the project, but "{name}"'
    allowed = FOLDERS[folder][0]
    if not any(owner in allowed for owner in owners[name]):
        return f'"{name}" lies in {owners[name][0]}/, which {folder}/ may not use'
    return None


def check_library_include(folder, relative, name):
    library = library_of(name)
    if library is None:
        return None
    if library == "ptrace" and relative in PURE:
        return f"<{name}> in a file that must stay free of ptrace"
    if library in ONLY_IN_FILES:
        return None if relative in ONLY_IN_FILES[library] else f"<{name}> belongs into {min(ONLY_IN_FILES[library])}"
    if ONE_FILE_OF.get(library) == folder or library in FOLDERS[folder][1]:
        return None
    return f"<{name}> ({library}): {folder}/ may not use that library"


def check_file(root, folder, path, owners, library_users):
    relative = str(path.relative_to(root))
    breaches = []
    for line_number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = _INCLUDE.match(line)
        if match:
            name = match.group(2)
            library = library_of(name)
            if library:
                library_users.setdefault((library, folder), set()).add(relative)
            quoted_project = match.group(1) == '"' and not library
            breach = (check_project_include(folder, path, name, owners) if quoted_project
                      else check_library_include(folder, relative, name))
        else:
            breach = check_arch(folder, line)
        if breach:
            breaches.append(f"{relative}:{line_number}: {breach}")
    return breaches


def check_arch(folder, line):
    """What depends on the processor stays in recorder/arch/."""
    match = ARCH_WORDS.search(line) if folder == "recorder" else None
    return match and f"{match.group(0)} belongs into recorder/arch/"


def check(root):
    """All breaches, as lines."""
    owners = header_folders(root)
    breaches = [f"{name}: the header exists in {' and '.join(folders)}: names must be unique"
                for name, folders in sorted(owners.items()) if len(folders) > 1]
    users = {}
    for folder, path in sources(root):
        breaches += check_file(root, folder, path, owners, users)
    for library, folder in ONE_FILE_OF.items():
        files = users.get((library, folder), set())
        if len(files) > 1:
            breaches.append(f"{library} is used in {', '.join(sorted(files))}: one file of {folder}/ is allowed")
    return breaches


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    breaches = check(root)
    print("\n".join(breaches) if breaches else "include rules hold")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
