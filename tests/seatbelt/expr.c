/* expr - reads the expressions of a profile. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "tests/seatbelt/eval_priv.h"
#include "core/base/buf.h"

struct reader {
	const char *at, *end;
	int line;
	struct err *err;
};

static int bad(struct reader *r, const char *what)
{
	return err_say(r->err, -EINVAL, "%d: %s", r->line, what);
}

static struct expr *new_expr(const struct reader *r, enum expr_kind kind)
{
	struct expr *e = xcalloc(1, sizeof(*e));

	e->kind = kind;
	e->line = r->line;
	return e;
}

/* Recursive, but lists are nested at most EXPR_MAX_DEPTH deep. */
void expr_free(struct expr *e)
{
	while (e) {
		struct expr *next = e->next;

		expr_free(e->first);
		match_free(e->match);
		free(e->text);
		free(e);
		e = next;
	}
}

bool expr_is(const struct expr *e, const char *word)
{
	return e && e->kind == EXPR_WORD && str_eq(e->text, word);
}

bool expr_is_list(const struct expr *e, const char *word)
{
	return e && e->kind == EXPR_LIST && expr_is(e->first, word);
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end) {
		char c = *r->at;

		if (c == ';') {
			while (r->at < r->end && *r->at != '\n')
				r->at++;
			continue;
		}
		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			return;
		r->line += c == '\n';
		r->at++;
	}
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Reads the character after a `\`. */
static int take_escape(struct reader *r, struct buf *text)
{
	int high, low;

	if (r->at >= r->end)
		return bad(r, "a string without its end");
	switch (*r->at) {
	case 'n':
		buf_ch(text, '\n');
		break;
	case 't':
		buf_ch(text, '\t');
		break;
	case 'r':
		buf_ch(text, '\r');
		break;
	case '"':
	case '\\':
		buf_ch(text, *r->at);
		break;
	case 'x':
		if (r->end - r->at < 3)
			return bad(r, "a string without its end");
		high = hex(r->at[1]);
		low = hex(r->at[2]);
		if (high < 0 || low < 0 || !(high | low))
			return bad(r, "'\\x' without two digits");
		buf_ch(text, (char)(high * 16 + low));
		r->at += 2;
		break;
	default:
		return bad(r, "a '\\' before what needs none");
	}
	r->at++;
	return 0;
}

/* raw: #"...", in which no character is special. */
static int take_string(struct reader *r, bool raw, struct expr **ret)
{
	AUTO_BUF struct buf text = BUF_INIT;
	struct expr *e;

	r->at += 1 + raw;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;

		if (!c)
			return bad(r, "a string with a NUL");
		r->line += c == '\n';
		if (c != '\\' || raw)
			buf_ch(&text, c);
		else if (take_escape(r, &text) < 0)
			return -EINVAL;
	}
	if (r->at >= r->end)
		return bad(r, "a string without its end");
	r->at++;
	e = new_expr(r, EXPR_STRING);
	e->text = buf_take(&text);
	*ret = e;
	return 0;
}

static int take_word(struct reader *r, struct expr **ret)
{
	const char *from = r->at;

	while (r->at<r->end && * r->at> ' ' && *r->at <= '~' && !strchr("();\"", *r->at))
		r->at++;
	if (r->at == from)
		return bad(r, "a character that no profile has outside of strings");
	*ret = new_expr(r, EXPR_WORD);
	(*ret)->text = xstrndup(from, (size_t)(r->at - from));
	return 0;
}

static int take_list(struct reader *r, int depth, bool open, struct expr **ret);

static int take_one(struct reader *r, int depth, struct expr **ret)
{
	if (*r->at == '(') {
		if (depth >= EXPR_MAX_DEPTH)
			return bad(r, "lists within lists, too deep");
		r->at++;
		return take_list(r, depth + 1, true, ret);
	}
	if (*r->at == '"')
		return take_string(r, false, ret);
	if (*r->at == '#' && r->end - r->at > 1 && r->at[1] == '"')
		return take_string(r, true, ret);
	return take_word(r, ret);
}

/* Reads up to the ")", or to the end of the text. */
static int take_list(struct reader *r, int depth, bool open, struct expr **ret)
{
	struct expr *list = new_expr(r, EXPR_LIST), **tail = &list->first;
	int e = 0;

	for (skip_blanks(r); r->at < r->end && *r->at != ')'; skip_blanks(r)) {
		e = take_one(r, depth, tail);
		if (e < 0)
			break;
		tail = &(*tail)->next;
	}
	if (e == 0 && open != (r->at < r->end))
		e = bad(r, open ? "'(' without its ')'" : "')' without its '('");
	if (e < 0) {
		expr_free(list);
		return e;
	}
	r->at += open;
	*ret = list;
	return 0;
}

int expr_read(struct expr **ret, const char *text, size_t len, struct err *err)
{
	struct reader r = {.at = text, .end = text + len, .line = 1, .err = err};

	return take_list(&r, 0, false, ret);
}
