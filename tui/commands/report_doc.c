/* report_doc - writes a document as HTML or Markdown: headings, lists, and quoted foreign text. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/report_doc.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/record/redact.h"

#define QUOTE_COLUMNS 160

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
	"body{max-width:60em;margin:2em auto;padding:0 1em;font:15px/1.5 system-ui,sans-serif;"
	"color:#1c2128;background:#fff}\n"
	"h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em;border-top:1px solid #c8ced6;"
	"padding-top:1em}h3{font-size:1em;margin-bottom:.2em}\n"
	"ul{margin:.2em 0;padding-left:1.4em}\n"
	"code,pre{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;background:#eef1f5;"
	"border-radius:3px;overflow-wrap:anywhere;white-space:pre-wrap}\n"
	"code{padding:.1em .3em}pre{padding:.6em;border-left:3px solid #5b7db1}\n"
	"@media(prefers-color-scheme:dark){body{color:#d5dae3;background:#16181d}"
	"code,pre{background:#24282f}h2{border-color:#3a404a}}\n</style>\n";

/* Appends text for the page and for an attribute in quotes. */
static void add_html(struct buf *out, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '<':
			buf_str(out, "&lt;");
			break;
		case '>':
			buf_str(out, "&gt;");
			break;
		case '&':
			buf_str(out, "&amp;");
			break;
		case '"':
			buf_str(out, "&quot;");
			break;
		case '\'':
			buf_str(out, "&#39;");
			break;
		default:
			buf_ch(out, *s);
		}
}

static void add_own(struct doc *d, const char *words)
{
	if (d->html)
		add_html(&d->out, words);
	else
		buf_str(&d->out, words);
}

void doc_begin(struct doc *d, const char *title)
{
	if (!d->html)
		return;
	buf_str(&d->out, head);
	buf_str(&d->out, "<title>");
	add_html(&d->out, title);
	buf_str(&d->out, "</title></head><body>\n");
}

void doc_end(struct doc *d)
{
	if (d->html)
		buf_str(&d->out, "</body></html>\n");
}

void doc_heading(struct doc *d, int level, const char *words)
{
	if (d->html) {
		buf_fmt(&d->out, "<h%d>", level);
		add_html(&d->out, words);
		buf_fmt(&d->out, "</h%d>\n", level);
	} else {
		buf_fmt(&d->out, "%.*s %s\n\n", level, "######", words);
	}
}

void doc_say(struct doc *d, const char *fmt, ...)
{
	AUTO_BUF struct buf words = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&words, fmt, ap);
	va_end(ap);
	add_own(d, words.data);
}

void doc_paragraph(struct doc *d, const char *words)
{
	buf_str(&d->out, d->html ? "<p>" : "");
	add_own(d, words);
	buf_str(&d->out, d->html ? "</p>\n" : "\n\n");
}

void doc_list(struct doc *d, bool begin)
{
	if (d->html)
		buf_str(&d->out, begin ? "<ul>\n" : "</ul>\n");
	else if (!begin)
		buf_ch(&d->out, '\n');
}

void doc_fold(struct doc *d, const char *words)
{
	if (words) {
		buf_str(&d->out, "<details><summary>");
		add_html(&d->out, words);
		buf_str(&d->out, "</summary>\n\n");
	} else {
		buf_str(&d->out, "</details>\n\n");
	}
}

void doc_item(struct doc *d, bool begin)
{
	if (d->html)
		buf_str(&d->out, begin ? "<li>" : "</li>\n");
	else
		buf_str(&d->out, begin ? "- " : "\n");
}

/* ---- foreign text ---------------------------------------------------------------------------- */

/* Appends one backtick more than the longest run of them in the text; at least `least`. */
static void add_fence(struct buf *out, const char *text, size_t least)
{
	size_t longest = 0, run = 0;

	for (const char *s = text; *s; s++) {
		run = *s == '`' ? run + 1 : 0;
		longest = MAX(longest, run);
	}
	for (size_t i = 0; i < MAX(least, longest + 1); i++)
		buf_ch(out, '`');
}

/* columns: the most of the text that is shown; 0: all. Secrets are starred before the cut. */
static void quote(struct doc *d, const char *text, int columns)
{
	AUTO_FREE char *starred = redact_copy(d->redact, text);
	AUTO_BUF struct buf escaped = BUF_INIT, shown = BUF_INIT;

	text_escape(&escaped, starred, strlen(starred));
	if (columns)
		text_fit_end(&shown, escaped.data, columns);
	else
		buf_str(&shown, escaped.data);
	if (d->html) {
		buf_str(&d->out, "<code>");
		add_html(&d->out, shown.data);
		buf_str(&d->out, "</code>");
		return;
	}
	/* The fence has a blank on each side: a backtick may be the first or last character. */
	add_fence(&d->out, shown.data, 1);
	buf_fmt(&d->out, " %s ", shown.data);
	add_fence(&d->out, shown.data, 1);
}

void doc_quote(struct doc *d, const char *text)
{
	quote(d, text, 0);
}

void doc_quote_begin(struct doc *d, const char *text)
{
	quote(d, text, QUOTE_COLUMNS);
}

void doc_block(struct doc *d, const char *text)
{
	AUTO_FREE char *starred = redact_copy(d->redact, text);
	AUTO_BUF struct buf shown = BUF_INIT;
	size_t n;

	for (const char *line = starred; *line; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		text_escape(&shown, line, n);
		buf_ch(&shown, '\n');
	}
	if (d->html) {
		buf_str(&d->out, "<pre>");
		add_html(&d->out, shown.data);
		buf_str(&d->out, "</pre>\n");
		return;
	}
	add_fence(&d->out, shown.data, 3);
	buf_fmt(&d->out, "text\n%s", shown.data);
	add_fence(&d->out, shown.data, 3);
	buf_str(&d->out, "\n\n");
}
