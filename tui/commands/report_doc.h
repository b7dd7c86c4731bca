/* report_doc - writes a document as HTML or Markdown: headings, lists, and quoted foreign text. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct redact;

/*
 * doc_say() takes words of cordon's own, without markup. Text of agents, hosts and users goes
 * through doc_quote() and doc_block(): secrets are starred, control and bidi characters escaped,
 * and the text is formatted as code, so that it makes no tag, link, mention or reference to an
 * issue.
 */
struct doc {
	struct buf out;
	bool html;
	const struct redact *redact;
};

void doc_begin(struct doc *d, const char *title);
void doc_end(struct doc *d);
void doc_heading(struct doc *d, int level, const char *words);
void doc_say(struct doc *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
void doc_quote(struct doc *d, const char *text);       /* within a line */
void doc_quote_begin(struct doc *d, const char *text); /* the same, cut to one line */
void doc_block(struct doc *d, const char *text);       /* with its line breaks */
void doc_paragraph(struct doc *d, const char *words);
/* A list has items; an item has doc_say() and doc_quote(). */
void doc_list(struct doc *d, bool begin);
/* Begins a part that is shown after a click on these words, also in Markdown. NULL: ends it. */
void doc_fold(struct doc *d, const char *words);
void doc_item(struct doc *d, bool begin);
