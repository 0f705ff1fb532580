#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "top.h"

/*
 * Whether the character joins or changes the characters beside it. Terminals differ in the width of
 * the result, so these characters are left out.
 */
static bool is_joiner(wchar_t wide) {
    return (wide >= 0x200B && wide <= 0x200F) || (wide >= 0x2060 && wide <= 0x2064) ||
           (wide >= 0xFE00 && wide <= 0xFE0F) || (wide >= 0x1F3FB && wide <= 0x1F3FF) ||
           wide >= 0xE0000;
}

/*
 * Writes characters up to `most` columns; out NULL: only measures. *rest: the text that is left.
 * Returns the columns.
 */
static size_t walk(FILE *out, const char *text, size_t most, const char **rest) {
    mbstate_t state = {0};
    size_t columns = 0;
    while (*text) {
        wchar_t wide;
        size_t size = mbrtowc(&wide, text, strlen(text), &state);
        bool known = size != (size_t)-1 && size != (size_t)-2;
        int width = known ? wcwidth(wide) : -1;
        if (!known) {
            size = 1;
            memset(&state, 0, sizeof state);
        }
        size_t taken = width < 0 ? 1 : is_joiner(wide) ? 0 : (size_t)width;
        if (columns + taken > most)
            break;
        if (out && width < 0)
            fputc('?', out);
        else if (out && !is_joiner(wide))
            fwrite(text, 1, size, out);
        columns += taken;
        text += size;
    }
    *rest = text;
    return columns;
}

size_t top_clip(FILE *out, const char *text, size_t width) {
    const char *rest;
    size_t columns = walk(NULL, text, width, &rest);
    if (!*rest) {
        walk(out, text, width, &rest);
        return columns;
    }
    columns = walk(out, text, width ? width - 1 : 0, &rest);
    if (width)
        fputc('~', out);
    return columns + (width > 0);
}

static char *escaped(dueq_bytes text) {
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    if (!out)
        cli_out_of_memory();
    text_show(out, text, TEXT_LINE);
    if (fclose(out))
        cli_out_of_memory();
    return shown;
}

size_t top_brief(FILE *out, dueq_bytes text, size_t width) {
    /* No line has room for more. */
    char *shown = escaped((dueq_bytes){text.data, text.size < 4096 ? text.size : 4096});
    const size_t columns = top_clip(out, shown, width);
    free(shown);
    return columns;
}

void top_cell(FILE *out, dueq_bytes text, int width) {
    const size_t columns = (size_t)(width < 0 ? -width : width);
    char *part = NULL;
    size_t size = 0;
    FILE *cut = open_memstream(&part, &size);
    if (!cut)
        cli_out_of_memory();
    const size_t taken = top_brief(cut, text, columns);
    if (fclose(cut))
        cli_out_of_memory();
    fprintf(out, "%*s%s%*s", width < 0 ? (int)(columns - taken) : 0, "", part,
            width < 0 ? 0 : (int)(columns - taken), "");
    free(part);
}

void top_cell_text(FILE *out, const char *text, int width) {
    top_cell(out, (dueq_bytes){text, strlen(text)}, width);
}

void top_spark(FILE *out, const int64_t *values, size_t count) {
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *signs = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? blocks : letters;
    int64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++) {
        double part = most ? (double)values[i] / (double)most : 0;
        fputs(signs[values[i] > 0 ? 1 + (int)(part * 6) : 0], out);
    }
}

/* Lines */

FILE *page_line(struct top_page *page) {
    page->out = open_memstream(&page->text, &page->size);
    if (!page->out)
        cli_out_of_memory();
    return page->out;
}

void page_put(struct top_page *page, enum top_style style, bool item) {
    char *shown, *fits = NULL;
    size_t size = 0;
    if (fclose(page->out))
        cli_out_of_memory();
    /* Escape the whole line here: every line goes to the terminal through this function. */
    shown = escaped((dueq_bytes){page->text, page->size});
    free(page->text);
    FILE *out = open_memstream(&fits, &size);
    if (!out)
        cli_out_of_memory();
    top_clip(out, shown, (size_t)page->width);
    free(shown);
    if (fclose(out))
        cli_out_of_memory();
    page->lines = realloc(page->lines, (page->count + 1) * sizeof *page->lines);
    if (!page->lines)
        cli_out_of_memory();
    page->lines[page->count++] = (struct top_line){fits, style, item};
    page->items += item;
}

void page_say(struct top_page *page, enum top_style style, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(page_line(page), format, arguments);
    va_end(arguments);
    page_put(page, style, false);
}

void page_why(struct top_page *page, const struct diagnosis *why) {
    enum { INDENT = 4, LEAST = 10, MOST = 3 };
    const size_t width = page->width > INDENT + LEAST ? (size_t)page->width - INDENT : LEAST;
    char *shown = escaped((dueq_bytes){why->text, strlen(why->text)});
    const char *at = shown, *rest;
    for (int line = 1; *at && line <= MOST; line++) {
        walk(NULL, at, width, &rest);
        const char *end = rest;
        while (*rest && end > at && *end != ' ')
            end--;
        /* A word longer than the line continues in the next one. The last line is cut. */
        end = line == MOST ? at + strlen(at) : end > at ? end : rest;
        page_say(page, top_style(why->level), "%s%.*s", line == 1 ? "  ! " : "    ",
                 (int)(end - at), at);
        at = end + (*end == ' ');
    }
    free(shown);
}

void page_end(struct top_page *page) {
    for (size_t i = 0; i < page->count; i++)
        free(page->lines[i].text);
    free(page->lines);
    *page = (struct top_page){.width = page->width};
}
