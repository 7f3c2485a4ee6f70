// Replays a fuzz target's seed corpus: runs every file of the folders named, so that the seeds are a test of their own.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t *copy = malloc(size ? size : 1); // exactly as long, so that reading past the end is seen
    if (!copy) return 1;
    for (size_t i = 0; i < size; i++) copy[i] = data[i];
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 0;
}

static int run_folder(const char *folder) {
    int failed = 0, count = 0;
    DIR *directory = opendir(folder);
    if (!directory) return fprintf(stderr, "%s: no such folder\n", folder), 1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed |= run_file(path);
        count++;
    }
    closedir(directory);
    printf("%s: %d seeds\n", folder, count);
    return failed || !count;
}

int main(int argc, char **argv) {
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) failed |= run_folder(argv[i]);
    return failed;
}
