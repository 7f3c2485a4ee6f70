#include "objects.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "procmaps.h"

enum { BUCKETS = 512 };

struct known {
    uint32_t dev_major, dev_minor;
    uint64_t inode, size;
    int64_t mtime_ns;
    uint32_t number;
    char *path;
    struct known *next;
};

struct object_table {
    uint64_t embed_limit;
    bool embed_debug;
    uint32_t last;
    uint32_t vdso; // its number, 0: not seen yet
    struct known *buckets[BUCKETS];
};

struct object_table *objects_create(uint64_t embed_limit, bool embed_debug) {
    struct object_table *table = calloc(1, sizeof *table);
    if (!table) abort();
    table->embed_limit = embed_limit;
    table->embed_debug = embed_debug;
    elf_version(EV_CURRENT);
    return table;
}

void objects_destroy(struct object_table *table) {
    if (!table) return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct known *known = table->buckets[i], *next; known; known = next) {
            next = known->next;
            free(known->path);
            free(known);
        }
    free(table);
}

bool objects_identify(const char *path, uint32_t *dev_major, uint32_t *dev_minor, uint64_t *inode) {
    struct stat status;
    if (stat(path, &status) != 0) return false;
    *dev_major = major(status.st_dev);
    *dev_minor = minor(status.st_dev);
    *inode = status.st_ino;
    return true;
}

// The GNU build-id note (gABI notes; NT_GNU_BUILD_ID) of an ELF file, by its program headers.
static bool note_build_id(Elf_Data *data, struct vmv_object_identity *identity) {
    GElf_Nhdr note;
    size_t name, desc;
    for (size_t at = 0, next; (next = gelf_getnote(data, at, &note, &name, &desc)) > 0; at = next) {
        bool gnu = note.n_namesz == 4 && memcmp((const char *)data->d_buf + name, "GNU", 4) == 0;
        if (!gnu || note.n_type != NT_GNU_BUILD_ID || note.n_descsz == 0 || note.n_descsz > sizeof identity->build_id)
            continue;
        memcpy(identity->build_id, (const char *)data->d_buf + desc, note.n_descsz);
        identity->build_id_length = note.n_descsz;
        return true;
    }
    return false;
}

static bool read_build_id(int fd, struct vmv_object_identity *identity) {
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t count = 0;
    bool is_elf = elf && elf_kind(elf) == ELF_K_ELF;
    if (is_elf && elf_getphdrnum(elf, &count) == 0)
        for (size_t i = 0; i < count && i < 1024; i++) {
            GElf_Phdr header;
            if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE || header.p_filesz > 65536) continue;
            Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_NHDR);
            if (data && note_build_id(data, identity)) break;
        }
    if (elf) elf_end(elf);
    return is_elf;
}

// The file itself, whatever its name is by now: by the mapping, else by its name if that is still the same file.
static int open_mapped(pid_t pid, const struct vmv_mapping *mapping, struct stat *status) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", pid, mapping->start, mapping->end);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) fd = open(mapping->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) && status->st_ino == mapping->inode) return fd;
    close(fd);
    return -1;
}

static int64_t mtime_of(const struct stat *status) {
    return status->st_mtim.tv_sec * 1000000000l + status->st_mtim.tv_nsec;
}

static bool same_file(const struct known *known, const struct vmv_mapping *mapping) {
    return known->inode == mapping->inode && known->dev_major == mapping->dev_major &&
           known->dev_minor == mapping->dev_minor && strcmp(known->path, mapping->name) == 0;
}

// The newest identity of the file. One that was rewritten since is another.
static struct known *lookup(struct object_table *table, const struct vmv_mapping *mapping) {
    struct stat now;
    struct known *known = table->buckets[mapping->inode % BUCKETS];
    while (known && !same_file(known, mapping)) known = known->next;
    if (!known || stat(mapping->name, &now) != 0 || now.st_ino != mapping->inode) return known;
    return known->size == (uint64_t)now.st_size && known->mtime_ns == mtime_of(&now) ? known : NULL;
}

static struct known *remember(struct object_table *table, const struct vmv_mapping *mapping,
                              const struct stat *status) {
    struct known *known = calloc(1, sizeof *known);
    if (!known || !(known->path = strdup(mapping->name))) abort();
    known->dev_major = mapping->dev_major;
    known->dev_minor = mapping->dev_minor;
    known->inode = mapping->inode;
    known->size = (uint64_t)status->st_size;
    known->mtime_ns = mtime_of(status);
    known->number = ++table->last;
    struct known **bucket = &table->buckets[mapping->inode % BUCKETS];
    known->next = *bucket;
    *bucket = known;
    return known;
}

static bool wants_bytes(const struct object_table *table, const struct vmv_mapping *mapping, const struct stat *status,
                        bool is_elf) {
    if ((mapping->flags & VMV_MAP_SHARED) && (mapping->flags & VMV_MAP_W)) return false;
    return is_elf || (uint64_t)status->st_size <= table->embed_limit;
}

// Shared memory without a file of its own: each mapping has an inode that nobody can open, and there may be thousands.
static bool is_nameless(const struct vmv_mapping *mapping) {
    const char *name = mapping->name;
    return name[0] != '/' || strcmp(name, "/dev/zero (deleted)") == 0 || strncmp(name, "/SYSV", 5) == 0;
}

static bool write_all(int fd, const void *bytes, size_t length) {
    return write(fd, bytes, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0;
}

// ------------------------------------------------------------------------------------------- debug information

// The text at the beginning of a section, 0-terminated.
static bool section_text(int fd, const char *name, char *out, size_t size) {
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t names = 0;
    bool found = false;
    if (elf && elf_kind(elf) == ELF_K_ELF && elf_getshdrstrndx(elf, &names) == 0)
        for (Elf_Scn *section = NULL; !found && (section = elf_nextscn(elf, section));) {
            GElf_Shdr header;
            const char *is = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
            Elf_Data *data = is && strcmp(is, name) == 0 ? elf_getdata(section, NULL) : NULL;
            size_t length = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;
            found = length && length < data->d_size && length < size;
            if (found) memcpy(out, data->d_buf, length + 1);
        }
    if (elf) elf_end(elf);
    return found;
}

// Hands a debug file to the sink once. -1: it is not there, or not of this build-id (length 0: any).
static int embed_file(struct object_table *table, struct sink_producer *producer, const char *path,
                      const struct vmv_object_identity *of) {
    struct stat status;
    struct vmv_mapping mapping = {.name = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    struct vmv_object_identity identity = {.path = path};
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && read_build_id(fd, &identity) &&
                (!of->build_id_length || (identity.build_id_length == of->build_id_length &&
                                          memcmp(identity.build_id, of->build_id, of->build_id_length) == 0));
    mapping.inode = status.st_ino;
    mapping.dev_major = major(status.st_dev);
    mapping.dev_minor = minor(status.st_dev);
    if (!good || lookup(table, &mapping)) {
        close(fd);
        return -1;
    }
    identity.inode = status.st_ino;
    identity.size = (uint64_t)status.st_size;
    identity.mtime_ns = mtime_of(&status);
    identity.dev_major = mapping.dev_major;
    identity.dev_minor = mapping.dev_minor;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3); // the sink closes its own
    sink_object(producer, remember(table, &mapping, &status)->number, &identity, fd);
    return copy;
}

// The file that debug information refers to (dwz): its name is relative to the folder of the debug file.
static void embed_alternative(struct object_table *table, struct sink_producer *producer, int debug, const char *path) {
    char link[PATH_MAX], whole[2 * PATH_MAX];
    const struct vmv_object_identity any = {0};
    if (!section_text(debug, ".gnu_debugaltlink", link, sizeof link)) return;
    const char *slash = strrchr(path, '/');
    int folder = slash && link[0] != '/' ? (int)(slash - path + 1) : 0;
    snprintf(whole, sizeof whole, "%.*s%s", folder, path, link);
    int fd = embed_file(table, producer, whole, &any);
    if (fd >= 0) close(fd);
}

// Where gdb looks for them: by build-id, and by the name in .gnu_debuglink in three places (its manual, "Separate Debug
// Files").
static void embed_debug_of(struct object_table *table, struct sink_producer *producer, int object,
                           const struct vmv_object_identity *of) {
    char path[PATH_MAX + 300] = "/usr/lib/debug/.build-id/", link[256];
    size_t at = strlen(path);
    if (!of->build_id_length) return;
    for (size_t i = 0; i < of->build_id_length; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, i == 0 ? "%02x/" : "%02x", of->build_id[i]);
    snprintf(path + at, sizeof path - at, ".debug");
    int fd = embed_file(table, producer, path, of);
    const char *slash = strrchr(of->path, '/');
    static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
    bool linked = fd < 0 && slash && strlen(of->path) < PATH_MAX &&
                  section_text(object, ".gnu_debuglink", link, sizeof link) && !strchr(link, '/');
    for (size_t i = 0; linked && fd < 0 && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%.*s%s%s", places[i][0], (int)(slash - of->path), of->path, places[i][1], link);
        fd = embed_file(table, producer, path, of);
    }
    if (fd < 0) return;
    embed_alternative(table, producer, fd, path);
    close(fd);
}

// ------------------------------------------------------------------------------------------- mappings

// The code that the kernel lends to each program is the same in all 64-bit processes (vdso(7)): the bytes of our own
// are embedded. Programs of 32 bits, below 4 GiB, have another.
static uint32_t vdso_of(struct object_table *table, struct sink_producer *producer, const struct vmv_mapping *mapping) {
    const void *own = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    uint64_t size = mapping->end - mapping->start;
    if (!own || mapping->start >> 32 == 0) return 0;
    if (table->vdso) return table->vdso;
    struct vmv_object_identity identity = {.path = mapping->name, .size = size};
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0) return 0;
    struct procmaps maps = {0};
    struct vmv_mapping ours = {0};
    bool good = procmaps_at(&maps, getpid(), (uintptr_t)own, &ours, NULL) == 0 && ours.end - ours.start == size &&
                write_all(fd, own, size) && read_build_id(fd, &identity);
    procmaps_free(&maps);
    if (!good) {
        close(fd);
        return 0;
    }
    table->vdso = ++table->last;
    sink_object(producer, table->vdso, &identity, fd);
    return table->vdso;
}

uint32_t objects_of_mapping(struct object_table *table, struct sink_producer *producer, pid_t pid,
                            const struct vmv_mapping *mapping) {
    if (strcmp(mapping->name, "[vdso]") == 0) return vdso_of(table, producer, mapping);
    if (mapping->inode == 0 || is_nameless(mapping)) return 0;
    struct known *known = lookup(table, mapping);
    if (known) return known->number;
    struct stat status;
    int fd = open_mapped(pid, mapping, &status);
    if (fd < 0) return 0;
    known = remember(table, mapping, &status);
    struct vmv_object_identity identity = {.path = mapping->name,
                                           .inode = mapping->inode,
                                           .size = (uint64_t)status.st_size,
                                           .mtime_ns = mtime_of(&status),
                                           .dev_major = mapping->dev_major,
                                           .dev_minor = mapping->dev_minor};
    bool is_elf = read_build_id(fd, &identity);
    uint32_t number = known->number;
    if (is_elf && table->embed_debug) embed_debug_of(table, producer, fd, &identity);
    if (!wants_bytes(table, mapping, &status, is_elf)) {
        close(fd);
        fd = -1;
    }
    sink_object(producer, number, &identity, fd);
    return number;
}

static uint64_t first_loaded(Elf *elf) {
    size_t count = 0;
    uint64_t first = UINT64_MAX;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && i < 1024; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD) continue;
        uint64_t start = header.p_vaddr & ~(uint64_t)4095;
        if (start < first) first = start;
    }
    return first;
}

static bool is_named(const GElf_Sym *symbol) {
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && (type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE);
}

static bool find_in(Elf *elf, uint32_t table, const char *name, GElf_Sym *found) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != table || !header.sh_entsize) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && i < data->d_size / header.sh_entsize && i < INT_MAX; i++) {
            if (!gelf_getsym(data, (int)i, found) || !is_named(found)) continue;
            const char *text = elf_strptr(elf, header.sh_link, found->st_name);
            if (text && strcmp(text, name) == 0) return true;
        }
    }
    return false;
}

bool objects_find_symbol(const char *path, const char *name, uint64_t *offset, uint64_t *size) {
    GElf_Sym symbol;
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool found = elf && elf_kind(elf) == ELF_K_ELF &&
                 (find_in(elf, SHT_SYMTAB, name, &symbol) || find_in(elf, SHT_DYNSYM, name, &symbol));
    if (found) {
        *offset = symbol.st_value - first_loaded(elf);
        *size = symbol.st_size;
    }
    if (elf) elf_end(elf);
    if (fd >= 0) close(fd);
    return found;
}
