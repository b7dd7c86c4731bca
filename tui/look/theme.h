/* theme - the style of every role, from files in git-config syntax. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/source.h"
#include "tui/look/surface.h"

/* id, section, name. A role without an entry looks like its section's own role, else like text. */
#define ROLES(X)                                                                                   \
	X(TEXT, "", "text")		       /* everything else */                               \
	X(DIM, "", "dim")		       /* of little importance */                          \
	X(STRONG, "", "strong")		       /* headings, the name in a row */                   \
	X(TERMINAL, "", "terminal")	       /* what the agent printed in default colours */     \
	X(MATCH, "", "match")		       /* found by a search */                             \
	X(BORDER, "", "border")		       /* rules between panes */                           \
	X(BORDER_FOCUS, "border", "focus")     /* around the pane with the focus */                \
	X(TITLE, "", "title")		       /* names of panes */                                \
	X(TITLE_FOCUS, "title", "focus")       /* of the pane with the focus */                    \
	X(SELECT, "", "select")		       /* the row under the cursor */                      \
	X(SELECT_BLUR, "select", "blur")       /* the same in a pane without focus */              \
	X(BAR, "", "bar")		       /* hints */                                         \
	X(BAR_KEY, "bar", "key")	       /* the keys in it */                                \
	X(BAR_MESSAGE, "bar", "message")       /* an event */                                      \
	X(STATUS, "", "status")		       /* last line */                                     \
	X(STATUS_OK, "status", "ok")	       /* runs, ended well */                              \
	X(STATUS_WARN, "status", "warn")       /* waits, open network */                           \
	X(STATUS_ERROR, "status", "error")     /* ended badly */                                   \
	X(TAB, "", "tab")		       /* narrow layout */                                 \
	X(TAB_FOCUS, "tab", "focus")	       /* the pane that is shown */                        \
	X(ALERT, "", "alert")		       /* the row that announces a request */              \
	X(ALERT_KEY, "alert", "key")	       /* the keys in it */                                \
	X(EVENT_TOUCH, "event", "touch")       /* a change */                                      \
	X(EVENT_DENY, "event", "deny")	       /* refused */                                       \
	X(EVENT_ALLOW, "event", "allow")       /* granted, ended well */                           \
	X(EVENT_ASK, "event", "ask")	       /* waits for an answer */                           \
	X(EVENT_EXEC, "event", "exec")	       /* a command */                                     \
	X(EVENT_NOTE, "event", "note")	       /* said by cordon */                                \
	X(DIFF_CONTEXT, "diff", "context")     /* unchanged lines */                               \
	X(DIFF_ADD, "diff", "add")	       /* added */                                         \
	X(DIFF_DEL, "diff", "del")	       /* removed */                                       \
	X(DIFF_HUNK, "diff", "hunk")	       /* @@ lines */                                      \
	X(DIFF_META, "diff", "meta")	       /* headers of a file */                             \
	X(DIFF_FILE, "diff", "file")	       /* first line of a file's diff */                   \
	X(DIFF_ADD_WORD, "diff", "add-word")   /* its new words */                                 \
	X(DIFF_DEL_WORD, "diff", "del-word")   /* its removed words */                             \
	X(SYNTAX_COMMENT, "syntax", "comment") /* in code */                                       \
	X(SYNTAX_STRING, "syntax", "string")                                                       \
	X(SYNTAX_NUMBER, "syntax", "number")                                                       \
	X(SYNTAX_KEYWORD, "syntax", "keyword")                                                     \
	X(SYNTAX_TYPE, "syntax", "type")                                                           \
	X(MODAL, "", "modal")		   /* text of cordon's own questions */                    \
	X(MODAL_BORDER, "modal", "border") /* their frame */                                       \
	X(MODAL_TITLE, "modal", "title")   /* in the frame */                                      \
	X(MODAL_LABEL, "modal", "label")   /* of little importance */                              \
	X(MODAL_KEY, "modal", "key")	   /* the keys in them */                                  \
	X(MODAL_DANGER, "modal", "danger") /* conflicts, irreversible actions */                   \
	X(GAUGE, "", "gauge")		   /* the done part of a progress bar */

enum role {
#define X(id, section, name) ROLE_##id,
	ROLES(X)
#undef X
	ROLE_COUNT
};

/* Depth of the terminal's colours. */
enum depth {
	DEPTH_MONO,
	DEPTH_16,
	DEPTH_256,
	DEPTH_TRUE,
};

struct theme {
	char name[32];
	bool dark;
	struct style roles[ROLE_COUNT];
};

/* Loads a theme. On failure *t is unchanged, and err has FILE:LINE and the error. where: NULL for
 * built-in themes alone. */
int theme_load(struct theme *t, const char *name, const struct look_where *where, enum depth depth,
	       struct err *err) MUST_USE;
/* Like theme_load(), from text in memory; for tests and fuzzing. */
int theme_parse(struct theme *t, const char *file, const char *text, size_t len, enum depth depth,
		struct err *err) MUST_USE;

/* Gives changed lines of a diff a background that is a little greener or redder than the terminal's
 * (24 bits), if that is known and the theme sets no background for them. */
void theme_tint(struct theme *t, uint32_t ground);
/* Returns the nearest colour of the depth. */
uint32_t color_reduce(uint32_t color, enum depth depth);
/* Returns the 24-bit colour of an index of xterm's palette. */
uint32_t color_rgb(uint32_t color);
