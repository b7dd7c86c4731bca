/* redact - replaces secrets by stars before text is written. */
/* SPDX-License-Identifier: MIT */
#include "core/record/redact.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdatomic.h>
#include <string.h>

#include "core/os/text.h"

#define PATTERNS_MAX 64
#define HEAD_MIN     4
#define HEAD_MAX     32
#define HOLD_MAX     512  /* bytes of an incomplete word */
#define OPEN_MAX     4096 /* the same with its colours */
#define SECRETS_MAX  64
#define SECRET_MIN   6

/* Tokens of well-known services: a beginning, and at least `min` letters, digits and characters of
 * `more`. They are not regular expressions: every session looks for them, and most find none. */
static const struct token {
	const char *head, *more;
	size_t min;
	bool capitals; /* capitals and digits only, exactly min */
} tokens[] = {
	{"sk-ant-", "_-", 16, false},  /* Anthropic */
	{"sk-proj-", "_-", 16, false}, /* OpenAI */
	{"ghp_", "", 20, false},       /* GitHub */
	{"gho_", "", 20, false},	 {"ghs_", "", 20, false},
	{"github_pat_", "_", 20, false}, {"glpat-", "_-", 16, false},	   /* GitLab */
	{"xoxb-", "-", 10, false},					   /* Slack */
	{"xoxp-", "-", 10, false},	 {"AKIA", "", 16, true},	   /* AWS */
	{"AIza", "_-", 30, false},					   /* Google */
	{"npm_", "", 30, false},	 {"eyJhbGciOi", "_.-", 20, false}, /* JSON Web Token */
};

struct pattern {
	regex_t re;
	char head[HEAD_MAX + 1]; /* the text that begins every match; "": unknown */
	size_t head_len;
};

struct secret {
	char *text;
	size_t len;
};

struct redact {
	struct pattern list[PATTERNS_MAX];
	size_t n;
	struct secret secrets[SECRETS_MAX]; /* the first n_secrets never change */
	atomic_size_t n_secrets;
};

/* Finds the plain characters that begin every match. */
static void find_head(struct pattern *p, const char *text)
{
	size_t n = strcspn(text, "\\[](){}.*+?^$|");

	/* The last character may be repeated, or left out. */
	if (text[n] && strchr("*?{+", text[n]))
		n -= n > 0;
	if (strchr(text, '|') || n < HEAD_MIN)
		n = 0;
	p->head_len = MIN(n, (size_t)HEAD_MAX);
	memcpy(p->head, text, p->head_len);
}

static int add(struct redact *r, const char *text, struct err *err)
{
	struct pattern *p = &r->list[r->n];
	char why[128];
	int e;

	if (r->n == PATTERNS_MAX)
		return err_say(err, -E2BIG, "record.redact: more than %d patterns: leave some out",
			       PATTERNS_MAX);
	e = regcomp(&p->re, text, REG_EXTENDED | REG_NEWLINE);
	if (e) {
		regerror(e, &p->re, why, sizeof(why));
		return err_say(err, -EINVAL, "record.redact '%s': not a regular expression: %s",
			       text, why);
	}
	r->n++;
	find_head(p, text);
	return 0;
}

int redact_new(struct redact **ret, const char *const *patterns, struct err *err)
{
	struct redact *r = xcalloc(1, sizeof(*r));
	int e = 0;

	for (; e == 0 && patterns && *patterns; patterns++)
		e = add(r, *patterns, err);
	if (e < 0) {
		redact_free(r);
		return e;
	}
	*ret = r;
	return 0;
}

void redact_free(struct redact *r)
{
	for (size_t i = 0; r && i < r->n; i++)
		regfree(&r->list[i].re);
	for (size_t i = 0; r && i < r->n_secrets; i++) {
		explicit_bzero(r->secrets[i].text, r->secrets[i].len);
		free(r->secrets[i].text);
	}
	free(r);
}

/* Finds the first match that begins in [from, len). */
static bool match(const struct pattern *p, const char *s, size_t from, size_t len, regmatch_t *m)
{
	m->rm_so = (regoff_t)from;
	m->rm_eo = (regoff_t)len;
	return regexec(&p->re, s, 1, m, REG_STARTEND | (from ? REG_NOTBOL : 0)) == 0 &&
	       m->rm_eo > m->rm_so;
}

/* Returns the end of the line that contains s[at], where a match must end. */
static size_t line_end(const char *s, size_t at, size_t len)
{
	const char *nl = memchr(s + at, '\n', len - at);

	return nl ? (size_t)(nl - s) : len;
}

static void star(char *s, const regmatch_t *m)
{
	memset(s + m->rm_so, '*', (size_t)(m->rm_eo - m->rm_so));
}

/* Returns the length of the token that begins at s; 0: there is none. */
static size_t token_length(const struct token *t, const char *s, size_t len)
{
	size_t head = strlen(t->head), n = head, most = t->capitals ? head + t->min : len;

	while (n < MIN(len, most) &&
	       (isdigit((unsigned char)s[n]) || isupper((unsigned char)s[n]) ||
		(!t->capitals && islower((unsigned char)s[n])) || (s[n] && strchr(t->more, s[n]))))
		n++;
	return n >= head + t->min ? n : 0;
}

/* These three return whether they replaced something. */
static bool by_token(const struct token *t, char *s, size_t len)
{
	char *at = s, *end = s + len;
	bool any = false;

	while ((at = memmem(at, (size_t)(end - at), t->head, strlen(t->head))) != NULL) {
		size_t n = token_length(t, at, (size_t)(end - at));

		memset(at, '*', n);
		any |= n > 0;
		at += n ? n : strlen(t->head);
	}
	return any;
}

static bool by_head(const struct pattern *p, char *s, size_t len)
{
	regmatch_t m;
	bool any = false;

	for (size_t at = 0; at < len;) {
		const char *hit = memmem(s + at, len - at, p->head, p->head_len);
		size_t from;

		if (!hit)
			break;
		from = (size_t)(hit - s);
		at = from + p->head_len;
		if (match(p, s, from, line_end(s, from, len), &m) && m.rm_so == (regoff_t)from) {
			star(s, &m);
			at = (size_t)m.rm_eo;
			any = true;
		}
	}
	return any;
}

static bool by_line(const struct pattern *p, char *s, size_t len)
{
	regmatch_t m;
	bool any = false;

	for (size_t at = 0; at < len;) {
		size_t end = line_end(s, at, len);

		while (at < end && match(p, s, at, end, &m)) {
			star(s, &m);
			at = (size_t)m.rm_eo;
			any = true;
		}
		at = end + 1;
	}
	return any;
}

bool redact_secret(struct redact *r, const char *text)
{
	size_t n = atomic_load(&r->n_secrets), len = strlen(text);

	if (len < SECRET_MIN)
		return true;
	for (size_t i = 0; i < n; i++)
		if (str_eq(r->secrets[i].text, text))
			return true;
	if (n == SECRETS_MAX)
		return false;
	r->secrets[n] = (struct secret){xstrdup(text), len};
	atomic_store(&r->n_secrets, n + 1);
	return true;
}

/* Returns whether it replaced something. */
static bool whole_texts(const struct redact *r, char *s, size_t len)
{
	size_t n = atomic_load(&r->n_secrets);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct secret *secret = &r->secrets[i];
		char *at = s, *end = s + len;

		while ((at = memmem(at, (size_t)(end - at), secret->text, secret->len)) != NULL) {
			memset(at, '*', secret->len);
			at += secret->len;
			any = true;
		}
	}
	return any;
}

/* ---- colours ---------------------------------------------------------------------------------
 */

#define ESC '\033'

/* Returns the length of the sequence at s that sets colours (ECMA-48, SGR), also if it is cut off;
 * 0: there is none. */
static size_t colour_length(const char *s, size_t len)
{
	size_t n = 2;

	if (len < 2 || s[0] != ESC || s[1] != '[')
		return len == 1 && *s == ESC;
	while (n < len && s[n] && strchr("0123456789;:", s[n]))
		n++;
	return n == len ? n : s[n] == 'm' ? n + 1 : 0;
}

/* Finds the next bytes between colours, which a program may set in the middle of a secret: moves
 * *at to their beginning, and returns their end. */
static size_t plain_run(const char *s, size_t len, size_t *at)
{
	const char *esc = NULL;
	size_t n;

	while (*at < len && (n = colour_length(s + *at, len - *at)) > 0)
		*at += n;
	if (*at + 1 < len) /* the first byte may begin another sequence */
		esc = memchr(s + *at + 1, ESC, len - *at - 1);
	return esc ? (size_t)(esc - s) : len;
}

/* Copies the text without colours. Returns its length. */
static size_t plain_of(const char *s, size_t len, char *plain)
{
	size_t n = 0;

	for (size_t at = 0, end; at < len; at = end) {
		end = plain_run(s, len, &at);
		memcpy(plain + n, s + at, end - at);
		n += end - at;
	}
	plain[n] = '\0';
	return n;
}

/* Copies such a text back, between the colours. */
static void plain_back(char *s, size_t len, const char *plain)
{
	for (size_t at = 0, end; at < len; at = end) {
		end = plain_run(s, len, &at);
		memcpy(s + at, plain, end - at);
		plain += end - at;
	}
}

/* Returns where the n-th byte without colours is. */
static size_t plain_at(const char *s, size_t len, size_t n)
{
	for (size_t at = 0, end; at < len; at = end) {
		end = plain_run(s, len, &at);
		if (n < end - at)
			return at + n;
		n -= end - at;
	}
	return len;
}

/* Returns whether something was replaced. */
static bool star_all(const struct redact *r, char *s, size_t len)
{
	bool any = whole_texts(r, s, len);

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
		any |= by_token(&tokens[i], s, len);
	for (size_t i = 0; i < r->n; i++)
		any |= r->list[i].head_len ? by_head(&r->list[i], s, len)
					   : by_line(&r->list[i], s, len);
	return any;
}

void redact_text(const struct redact *r, char *s, size_t len)
{
	AUTO_FREE char *plain = NULL;

	if (!memchr(s, ESC, len)) {
		star_all(r, s, len);
		return;
	}
	plain = xmalloc(len + 1);
	if (star_all(r, plain, plain_of(s, len, plain)))
		plain_back(s, len, plain);
}

char *redact_copy(const struct redact *r, const char *s)
{
	char *copy = xstrdup(s);

	if (r)
		redact_text(r, copy, strlen(copy));
	return copy;
}

/* Returns whether the word has the head, or ends with its beginning. */
static bool may_grow(const char *head, size_t head_len, const char *word, size_t len)
{
	if (!head_len || memmem(word, len, head, head_len))
		return true;
	for (size_t n = MIN(len, head_len - 1); n > 0; n--)
		if (memcmp(word + len - n, head, n) == 0 &&
		    (n == len || !isalnum((unsigned char)word[len - n - 1])))
			return true;
	return false;
}

/* Returns the length of the longest end that begins a secret. */
static size_t open_secret(const struct redact *r, const char *s, size_t len)
{
	size_t n = atomic_load(&r->n_secrets), most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct secret *secret = &r->secrets[i];
		size_t k = MIN(len, secret->len - 1);

		while (k > most && memcmp(s + len - k, secret->text, k) != 0)
			k--;
		most = MAX(most, k);
	}
	return most;
}

static size_t open_word(const struct redact *r, const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && n < HOLD_MAX && (unsigned char)s[len - n - 1] > ' ' &&
	       s[len - n - 1] != 0x7f)
		n++;
	for (size_t i = 0; n && i < ARRAY_LEN(tokens); i++)
		if (may_grow(tokens[i].head, strlen(tokens[i].head), s + len - n, n))
			return n;
	for (size_t i = 0; n && i < r->n; i++)
		if (may_grow(r->list[i].head, r->list[i].head_len, s + len - n, n))
			return n;
	return 0;
}

static size_t open_plain(const struct redact *r, const char *s, size_t len)
{
	size_t word = open_word(r, s, len), secret = open_secret(r, s, len);

	return MAX(word, secret);
}

size_t redact_open(const struct redact *r, const char *s, size_t len)
{
	const size_t most = MIN(len, (size_t)OPEN_MAX);
	char plain[OPEN_MAX + 1];
	size_t n, open;

	if (!memchr(s + len - most, ESC, most))
		return open_plain(r, s, len);
	n = plain_of(s + len - most, most, plain);
	open = open_plain(r, plain, n);
	return open ? most - plain_at(s + len - most, most, n - open) : 0;
}
