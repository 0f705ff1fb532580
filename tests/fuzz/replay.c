/* Runs a fuzz target once on each file of a folder: replay FOLDER */
#include <dirent.h>

#include "fuzz.h"

static void replay(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    uint8_t *data = NULL;
    size_t size = 0, got;
    do {
        data = realloc(data, size + 4096);
        CHECK(data);
        got = fread(data + size, 1, 4096, file);
        size += got;
    } while (got > 0);
    fclose(file);
    fprintf(stderr, "%s\n", name);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    DIR *folder = opendir(argv[1]);
    CHECK(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            replay(argv[1], entry->d_name);
            count++;
        }
    closedir(folder);
    CHECK(count > 0);
    printf("%zu files\n", count);
    return 0;
}
