/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a page: escapes, numbers, style, and the lines that sort a table. */
#include "page/page.h"

#include <holdfast/version.h>
#include <math.h>
#include <string.h>

static void write_page_text(hfi_page *page, const char *text, size_t length)
{
    if (page->status >= 0 && length > 0) page->status = hfi_file_write(page->ctx, &page->file, text, length);
}

void hfi_page_put(hfi_page *page, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    const int length = hfi_print_list(text, sizeof text, format, args);
    va_end(args);
    if (length > 0)
        write_page_text(page, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Bytes of the well-formed character that begins here; 0: none does. */
static size_t character(const unsigned char *c)
{
    if (c[0] < 0x80) return c[0] >= 0x20 && c[0] != 0x7f ? 1 : 0;
    const size_t more = c[0] >= 0xf0 && c[0] <= 0xf4  ? 3
                        : c[0] >= 0xe0 && c[0] < 0xf0 ? 2
                        : c[0] >= 0xc2 && c[0] < 0xe0 ? 1
                                                      : 0;
    for (size_t k = 1; k <= more; k++)
        if ((c[k] & 0xc0) != 0x80) return 0;
    const bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    const bool surrogate = (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf4 && c[1] > 0x8f);
    return more == 0 || overlong || surrogate ? 0 : more + 1;
}

static const char *entity(char c)
{
    static const char marks[] = "<>&\"'";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    const char *mark = c != '\0' ? strchr(marks, c) : NULL;
    return mark != NULL ? entities[mark - marks] : NULL;
}

void hfi_page_words(hfi_page *page, const char *text)
{
    if (text == NULL) return;
    while (*text != '\0') {
        const size_t length = character((const unsigned char *)text);
        const char *escaped = entity(*text);
        if (length == 0)
            write_page_text(page, "\xef\xbf\xbd", 3);
        else if (escaped != NULL)
            write_page_text(page, escaped, strlen(escaped));
        else
            write_page_text(page, text, length);
        text += length > 0 ? length : 1;
    }
}

void hfi_page_cell(hfi_page *page, double value, int digits)
{
    if (isnan(value))
        hfi_page_put(page, "<td>-</td>");
    else
        hfi_page_put(page, "<td>%.*g</td>", digits, value);
}

void hfi_page_text(hfi_page *page, const char *text)
{
    hfi_page_put(page, "<td>");
    hfi_page_words(page, text);
    hfi_page_put(page, "</td>");
}

void hfi_page_row(hfi_page *page, const char *head)
{
    hfi_page_put(page, "<tr><th scope=\"row\">");
    hfi_page_words(page, head);
    hfi_page_put(page, "</th>");
}

void hfi_page_command(hfi_page *page, const char *command, const char *more)
{
    hfi_page_put(page, "<pre>");
    hfi_page_words(page, command);
    hfi_page_put(page, "%s</pre>\n", more);
}

void hfi_page_table(hfi_page *page, const char *label, const char *more, const char *caption, size_t count,
                    const char *const *heads)
{
    hfi_page_put(page, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table%s>",
                 label, more);
    if (*caption != '\0') hfi_page_put(page, "<caption>%s</caption>", caption);
    hfi_page_put(page, "<thead><tr>");
    for (size_t k = 0; k < count; k++) {
        hfi_page_put(page, "<th scope=\"col\">");
        hfi_page_words(page, heads[k]);
        hfi_page_put(page, "</th>");
    }
    hfi_page_put(page, "</tr></thead><tbody>\n");
}

void hfi_page_table_end(hfi_page *page)
{
    hfi_page_put(page, "</tbody></table></div>\n");
}

/* The name of its target, or those of its outputs. */
static void put_targets(hfi_page *page)
{
    const size_t count = page->model->outputs;
    for (size_t t = 0; t < count; t++) {
        if (t > 0) hfi_page_put(page, t + 1 == count ? " and " : ", ");
        hfi_page_words(page, hf_model_output(page->model, t));
    }
}

/* ---- the page ------------------------------------------------------------------------------------------- */

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--main:#0b5cad;"
    "--band:#0b5cad33;--bad:#b3261e;--box:#f6f8fa}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#12161b;--text:#e6edf3;--soft:#a5b0bb;--line:#3a434d;"
    "--main:#79b8ff;--band:#79b8ff40;--bad:#ff9c91;--box:#1b2128}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);"
    "font:16px/1.5 system-ui,'DejaVu Sans',sans-serif}\n"
    "main{max-width:62rem;margin:auto;padding:1rem}h1{font-size:1.6rem;margin:.5rem 0;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid "
    "var(--line)}h3{font-size:1rem;margin:.5rem 0}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;padding:0;margin:.5rem 0;list-style:none}"
    "a{color:var(--main)}p{max-width:44rem;overflow-wrap:anywhere}\n"
    ".scroll{overflow-x:auto;max-height:32rem}table{border-collapse:collapse;font-variant-numeric:tabular-"
    "nums}"
    "caption{text-align:left;color:var(--soft);padding:.2rem 0;position:sticky;left:0;max-width:calc(100vw - "
    "3rem)}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid var(--line);text-align:right}"
    "th:first-child,td.name{text-align:left;min-width:6rem;max-width:18rem;overflow-wrap:break-word}th[scope="
    "row]{text-align:left;font-weight:"
    "500}\n"
    "th button{font:inherit;color:var(--main);background:none;border:0;padding:0;cursor:pointer;"
    "text-decoration:underline}\n"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] "
    "button::after{content:' \\2193'}\n"
    ":focus-visible{outline:3px solid var(--main);outline-offset:2px}\n"
    ".grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:1rem}"
    "figure{margin:0}figcaption{color:var(--soft);font-size:.9rem}svg{width:100%;height:auto;max-width:38rem}"
    "\n"
    "svg text{fill:var(--soft);font-size:14px}.axis{stroke:var(--soft);fill:none}.line{stroke:var(--main);"
    "stroke-width:2;fill:none}.guide{stroke:var(--soft);stroke-dasharray:4 "
    "4;fill:none}.dots{stroke-dasharray:1 3;stroke-width:2}.both{stroke-dasharray:8 3 2 3}"
    ".band{fill:var(--band)}"
    ".dot{fill:var(--main);fill-opacity:.6}.cross{stroke:var(--bad);stroke-width:2;fill:none}\n"
    ".bar{fill:var(--main)}code{background:var(--box);padding:.1rem .3rem;overflow-wrap:anywhere}"
    "pre{background:var(--box);padding:.75rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "@media print{nav{display:none}.scroll{overflow:visible;max-height:none}figure,tr,h2{break-inside:avoid}"
    "h2{break-after:avoid}th button{color:inherit;text-decoration:none}}\n";

/* Without it tables stay in their order. */
static const char script[] =
    "document.querySelectorAll('table[data-sort]').forEach(function(t){\n"
    "t.querySelectorAll('thead th').forEach(function(h,j){var "
    "b=document.createElement('button');b.type='button';\n"
    "b.textContent=h.textContent;h.textContent='';h.appendChild(b);b.addEventListener('click',function(){\n"
    "var up=h.getAttribute('aria-sort')!=='ascending',body=t.tBodies[0];\n"
    "t.querySelectorAll('th').forEach(function(o){o.removeAttribute('aria-sort')});\n"
    "h.setAttribute('aria-sort',up?'ascending':'descending');\n"
    "function key(r){var "
    "s=r.cells[j].textContent.trim(),x=/^[+-]?inf$/.test(s)?s.replace('inf','Infinity'):s;\n"
    "return{text:s,none:s===''||isNaN(x),number:+x}}\n"
    "Array.from(body.rows).sort(function(p,q){var a=key(p),c=key(q),d=a.none||c.none?0:\n"
    "(a.number>c.number)-(a.number<c.number);\n"
    "if(a.none!==c.none)return a.none?1:-1;\n"
    "if(a.none)d=a.text.localeCompare(c.text);return up?d:-d"
    "}).forEach(function(r){body.appendChild(r)})})})});\n";

static void write_long(hfi_page *page, const char *text)
{
    write_page_text(page, text, strlen(text));
}

void hfi_page_begin(hfi_page *page, const hfi_page_section *sections)
{
    hfi_page_put(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"Holdfast %s\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
        hf_version());
    put_targets(page);
    hfi_page_put(page, ": a model's report</title>\n<style>\n");
    write_long(page, style);
    hfi_page_put(page, "</style>\n</head>\n<body>\n<main>\n<h1>Model of ");
    put_targets(page);
    hfi_page_put(page, "</h1>\n<nav aria-label=\"Parts\"><ul>");
    for (const hfi_page_section *part = sections; part->write != NULL; part++)
        if (part->shown == NULL || part->shown(page))
            hfi_page_put(page, "<li><a href=\"#%s\">%s</a></li>", part->id, part->entry);
    hfi_page_put(page, "</ul></nav>\n");
}

void hfi_page_finish(hfi_page *page)
{
    hfi_page_put(page, "</main>\n<script>\n");
    write_long(page, script);
    hfi_page_put(page, "</script>\n</body>\n</html>\n");
}
