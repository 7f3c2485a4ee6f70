// Runs a fuzz target over files: every file of every folder, or file, named on the command line. Without libFuzzer
// this makes the seeds a test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file) fclose(file);
        return 1;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size ? size : 1);
    int failed = !data || fread(data, 1, size, file) != size;
    if (!failed) LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
    return failed;
}

static int run_folder(const char *path, DIR *folder, unsigned *count) {
    int failed = 0;
    char name[4096];
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= run_file(name);
        ++*count;
    }
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    unsigned count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        failed |= folder ? run_folder(argv[i], folder, &count) : run_file(argv[i]);
        if (folder)
            closedir(folder);
        else
            count++;
    }
    printf("%u inputs\n", count);
    return failed || !count;
}
