#include <string.h>

#include "web.h"

/* The program contains the files of web/, unchanged. */
#define FILES(X)                                                                                   \
    X(index, "index.html", "text/html; charset=utf-8")                                             \
    X(style, "style.css", "text/css; charset=utf-8")                                               \
    X(icon, "icon.svg", "image/svg+xml")                                                           \
    X(app, "app.js", "text/javascript; charset=utf-8")                                             \
    X(api, "api.js", "text/javascript; charset=utf-8")                                             \
    X(dom, "dom.js", "text/javascript; charset=utf-8")                                             \
    X(chart, "chart.js", "text/javascript; charset=utf-8")                                         \
    X(live, "live.js", "text/javascript; charset=utf-8")                                           \
    X(patch, "patch.js", "text/javascript; charset=utf-8")                                         \
    X(table, "table.js", "text/javascript; charset=utf-8")                                         \
    X(overview, "overview.js", "text/javascript; charset=utf-8")                                   \
    X(partitions, "partitions.js", "text/javascript; charset=utf-8")                               \
    X(queue, "queue.js", "text/javascript; charset=utf-8")                                         \
    X(groups, "groups.js", "text/javascript; charset=utf-8")                                       \
    X(batches, "batches.js", "text/javascript; charset=utf-8")                                     \
    X(workers, "workers.js", "text/javascript; charset=utf-8")                                     \
    X(message, "message.js", "text/javascript; charset=utf-8")

/* How assemblers name the section of constants, a symbol of C, and the section to go back to. */
#ifdef __APPLE__
#define SECTION ".section __TEXT,__const"
#define PREFIX "_web_"
#define BACK ".text"
#else
#define SECTION ".section .rodata"
#define PREFIX "web_"
#define BACK ".previous"
#endif

#define EMBED(name, file, type)                                                                    \
    __asm__(SECTION "\n" PREFIX #name "_begin: .incbin \"web/" file "\"\n" PREFIX #name            \
                    "_end: " BACK "\n");                                                           \
    extern const char web_##name##_begin[], web_##name##_end[];
FILES(EMBED)
#undef EMBED

dueq_bytes page_of(const char *path, const char **type) {
    if (strcmp(path, "/") == 0)
        path = "/index.html";
#define FIND(name, file, kind)                                                                     \
    if (strcmp(path, "/" file) == 0) {                                                             \
        *type = kind;                                                                              \
        return (dueq_bytes){web_##name##_begin, (size_t)(web_##name##_end - web_##name##_begin)};  \
    }
    FILES(FIND)
#undef FIND
    return (dueq_bytes){NULL, 0};
}
