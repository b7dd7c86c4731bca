/* rewrite - replaces placeholders in headers of HTTP/1.1 requests to one host by secrets. */
/* SPDX-License-Identifier: MIT */
#include "core/net/rewrite.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/os/text.h"

#define CHUNK_LINE_MAX 1024

struct field {
	struct span name, value;
};

/* What a head says about its body. */
struct framing {
	unsigned hosts, lengths, codings;
	uint64_t length;
};

static int refuse(const char **why, int code, const char *words)
{
	*why = words;
	return code;
}

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool span_is(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}

static bool span_has(struct span s, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= s.len; i++)
		if (strncasecmp(s.data + i, word, len) == 0)
			return true;
	return false;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Scans up to the end of a line. Returns 1: w->scanned is behind it; 0: it has not arrived. */
static int find_line(struct rewriter *w, const char **why)
{
	while (w->scanned < w->in.len) {
		const char *at = w->in.data + w->scanned++;
		bool after_cr = w->scanned > 1 && at[-1] == '\r';

		if (!*at || (*at == '\n') != after_cr)
			return refuse(why, -EBADMSG, "NUL, or an end of line that is none");
		if (*at == '\n')
			return 1;
	}
	return 0;
}

/* Scans lines up to an empty one. Returns 1: w->scanned is behind it. */
static int find_block(struct rewriter *w, const char **why)
{
	for (;;) {
		int r = find_line(w, why);
		bool empty = w->scanned - w->line == 2;

		if (r < 0)
			return r;
		if (w->scanned > REWRITE_HEAD_MAX)
			return refuse(why, -E2BIG, "more than 64 KiB of headers");
		if (r == 0)
			return 0;
		w->line = w->scanned;
		if (empty)
			return 1;
	}
}

static void drop(struct rewriter *w, size_t n)
{
	buf_drop_front(&w->in, n);
	w->scanned = w->line = 0;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Returns the text up to the next end of a line, which exists. */
static struct span next_line(struct span *rest)
{
	const char *cr = memchr(rest->data, '\r', rest->len);
	struct span line = {rest->data, (size_t)(cr - rest->data)};

	rest->data += line.len + 2;
	rest->len -= line.len + 2;
	return line;
}

static int check_request(struct span line, const char **why)
{
	static const char version[] = " HTTP/1.1";
	const size_t tail = sizeof(version) - 1;
	size_t method = 0, end;

	while (method < line.len && is_token(line.data[method]))
		method++;
	if (!method || line.len < method + 2 + tail || line.data[method] != ' ' ||
	    memcmp(line.data + line.len - tail, version, tail) != 0)
		return refuse(why, -EBADMSG, "not a request of HTTP/1.1");
	if (span_is((struct span){line.data, method}, "CONNECT") ||
	    span_is((struct span){line.data, method}, "TRACE")) /* TRACE returns its headers */
		return refuse(why, -EBADMSG, "the method CONNECT or TRACE");
	end = line.len - tail;
	if (line.data[method + 1] != '/' && !(line.data[method + 1] == '*' && end == method + 2))
		return refuse(why, -EBADMSG, "a target that is no path");
	for (size_t i = method + 1; i < end; i++)
		if ((unsigned char)line.data[i] <= ' ' || line.data[i] == 0x7f)
			return refuse(why, -EBADMSG, "a blank or control in the path");
	return 0;
}

static int read_field(struct span line, struct field *f, const char **why)
{
	size_t n = 0, from, to = line.len;

	while (n < line.len && is_token(line.data[n]))
		n++;
	if (!n || n == line.len || line.data[n] != ':')
		return refuse(why, -EBADMSG, "a folded line, or one that is no header");
	for (size_t i = n; i < line.len; i++)
		if (((unsigned char)line.data[i] < ' ' && line.data[i] != '\t') ||
		    line.data[i] == 0x7f)
			return refuse(why, -EBADMSG, "a control in a header");
	from = n + 1;
	while (from < to && (line.data[from] == ' ' || line.data[from] == '\t'))
		from++;
	while (to > from && (line.data[to - 1] == ' ' || line.data[to - 1] == '\t'))
		to--;
	f->name = (struct span){line.data, n};
	f->value = (struct span){line.data + from, to - from};
	return 0;
}

static bool is_host(struct span value, const char *host)
{
	size_t len = strlen(host);

	return value.len >= len && strncasecmp(value.data, host, len) == 0 &&
	       (value.len == len ||
		span_is((struct span){value.data + len, value.len - len}, ":443"));
}

static int read_length(struct span value, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (!isdigit((unsigned char)value.data[i]))
			return -EBADMSG;
		*ret = *ret * 10 + (uint64_t)(value.data[i] - '0');
	}
	return value.len && value.len <= 18 ? 0 : -EBADMSG;
}

static int check_field(const struct rewriter *w, const struct field *f, struct framing *to,
		       const char **why)
{
	if (span_is(f->name, "host")) {
		if (to->hosts++ || !is_host(f->value, w->host))
			return refuse(why, -EBADMSG, "a Host that is not the connection's");
	} else if (span_is(f->name, "content-length")) {
		if (to->lengths++ || read_length(f->value, &to->length) < 0)
			return refuse(why, -EBADMSG, "a Content-Length that is none, or two");
	} else if (span_is(f->name, "transfer-encoding")) {
		if (to->codings++ || !span_is(f->value, "chunked"))
			return refuse(why, -EBADMSG, "another Transfer-Encoding than chunked");
	} else if (span_is(f->name, "upgrade") ||
		   (span_is(f->name, "connection") && span_has(f->value, "upgrade"))) {
		return refuse(why, -EBADMSG, "Upgrade");
	}
	return 0;
}

static int check_head(const struct rewriter *w, struct framing *to, const char **why)
{
	struct span rest = {w->in.data, w->scanned};
	int r = check_request(next_line(&rest), why);

	while (r == 0 && rest.len > 2) {
		struct field f;

		r = read_field(next_line(&rest), &f, why);
		if (r == 0)
			r = check_field(w, &f, to, why);
	}
	if (r == 0 && !to->hosts)
		r = refuse(why, -EBADMSG, "no Host");
	if (r == 0 && to->lengths && to->codings)
		r = refuse(why, -EBADMSG, "a Content-Length beside a Transfer-Encoding");
	return r;
}

/* Returns whether the placeholder is the whole value, or all that follows one word: "Bearer X". In
 * other places the agent could choose what the server reads around the secret. */
static bool is_whole(struct span value, const char *placeholder)
{
	const size_t len = strlen(placeholder), before = value.len - MIN(len, value.len);

	if (value.len < len || memcmp(value.data + before, placeholder, len) != 0)
		return false;
	for (size_t i = 0; i + 1 < before; i++)
		if (!is_token(value.data[i]))
			return false;
	return !before || (before > 1 && value.data[before - 1] == ' ');
}

/* Adds the line with its secrets, each once in a request. Returns 1 if a value is not known. */
static int put_field(struct rewriter *w, struct span line, const struct field *f, uint64_t *put,
		     struct buf *out)
{
	for (size_t i = 0; i < w->n_rules; i++) {
		const struct rewrite_rule *rule = &w->rules[i];
		const size_t len = strlen(rule->placeholder);
		const char *end = f->value.data + f->value.len;

		if (*put & UINT64_C(1) << i || !span_is(f->name, rule->header) ||
		    !is_whole(f->value, rule->placeholder))
			continue;
		w->needs = i;
		if (!rule->value)
			return 1;
		*put |= UINT64_C(1) << i;
		buf_add(out, line.data, (size_t)(end - len - line.data));
		buf_str(out, rule->value);
		buf_add(out, end, (size_t)(line.data + line.len + 2 - end));
		return 0;
	}
	buf_add(out, line.data, line.len + 2);
	return 0;
}

static int put_head(struct rewriter *w, struct buf *out, const char **why)
{
	struct span rest = {w->in.data, w->scanned}, line = next_line(&rest);
	size_t before = out->len;
	uint64_t put = 0;
	int r = 0;

	buf_add(out, line.data, line.len + 2);
	while (r == 0 && rest.len > 2) {
		struct field f;

		line = next_line(&rest);
		r = read_field(line, &f, why);
		/* In a compressed answer no secret can be found. */
		if (r == 0 && !span_is(f.name, "accept-encoding") && !span_is(f.name, "te"))
			r = put_field(w, line, &f, &put, out);
	}
	if (r == 0) {
		buf_str(out, "\r\n");
		return 0;
	}
	explicit_bzero(out->data + before, out->len - before);
	buf_truncate(out, before);
	return r;
}

static int take_head(struct rewriter *w, struct buf *out, const char **why)
{
	struct framing body = {0};
	int r = w->whole ? 1 : find_block(w, why);

	if (r <= 0)
		return r;
	w->whole = true;
	r = check_head(w, &body, why);
	if (r == 0)
		r = put_head(w, out, why);
	if (r != 0)
		return r;
	w->whole = false;
	w->left = body.length;
	w->state = body.codings ? REWRITE_CHUNK_SIZE : body.length ? REWRITE_BODY : REWRITE_HEAD;
	drop(w, w->scanned);
	return 0;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void pass(struct rewriter *w, size_t n, struct buf *out)
{
	buf_add(out, w->in.data, n);
	drop(w, n);
}

static void take_bytes(struct rewriter *w, struct buf *out, enum rewrite_state then)
{
	size_t n = (size_t)MIN(w->left, (uint64_t)w->in.len);

	pass(w, n, out);
	w->left -= n;
	if (!w->left)
		w->state = then;
}

/* Reads "1f;name=value". */
static int take_chunk_size(struct rewriter *w, struct buf *out, const char **why)
{
	int r = find_line(w, why);
	size_t i = 0;

	if (r < 0)
		return r;
	if (w->scanned > CHUNK_LINE_MAX)
		return refuse(why, -EBADMSG, "a chunk's line is too long");
	if (r == 0)
		return 0;
	w->left = 0;
	for (; isxdigit((unsigned char)w->in.data[i]); i++) {
		char c = (char)tolower((unsigned char)w->in.data[i]);

		w->left = w->left * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (!i || i > 15 || (w->in.data[i] != '\r' && w->in.data[i] != ';'))
		return refuse(why, -EBADMSG, "a chunk without a size");
	w->state = w->left ? REWRITE_CHUNK : REWRITE_TRAILERS;
	pass(w, w->scanned, out);
	return 0;
}

static int take_chunk_end(struct rewriter *w, struct buf *out, const char **why)
{
	if (w->in.len < 2)
		return 0;
	if (memcmp(w->in.data, "\r\n", 2) != 0)
		return refuse(why, -EBADMSG, "a chunk that is longer than it says");
	w->state = REWRITE_CHUNK_SIZE;
	pass(w, 2, out);
	return 0;
}

static int take_trailers(struct rewriter *w, struct buf *out, const char **why)
{
	int r = find_block(w, why);
	struct span rest = {w->in.data, w->scanned};

	if (r <= 0)
		return r;
	for (r = 0; r == 0 && rest.len > 2;) {
		struct field f;

		r = read_field(next_line(&rest), &f, why);
	}
	if (r < 0)
		return r;
	w->state = REWRITE_HEAD;
	pass(w, w->scanned, out);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int step(struct rewriter *w, struct buf *out, const char **why)
{
	switch (w->state) {
	case REWRITE_HEAD:
		return take_head(w, out, why);
	case REWRITE_BODY:
		take_bytes(w, out, REWRITE_HEAD);
		return 0;
	case REWRITE_CHUNK_SIZE:
		return take_chunk_size(w, out, why);
	case REWRITE_CHUNK:
		take_bytes(w, out, REWRITE_CHUNK_END);
		return 0;
	case REWRITE_CHUNK_END:
		return take_chunk_end(w, out, why);
	case REWRITE_TRAILERS:
		return take_trailers(w, out, why);
	}
	return -EINVAL;
}

void rewriter_init(struct rewriter *w, const char *host, const struct rewrite_rule *rules,
		   size_t n_rules)
{
	*w = (struct rewriter){.host = host, .rules = rules, .n_rules = n_rules, .in = BUF_INIT};
}

void rewriter_done(struct rewriter *w)
{
	buf_done(&w->in);
}

int rewriter_feed(struct rewriter *w, const char *data, size_t len, struct buf *out,
		  const char **why)
{
	*why = "refused before";
	if (w->failed)
		return w->failed;
	buf_add(&w->in, data, len);
	while (w->in.len) {
		size_t before = w->in.len;
		int r = step(w, out, why);

		if (r < 0)
			w->failed = r;
		if (r != 0)
			return r;
		if (w->in.len == before) /* wait for more */
			return 0;
	}
	return 0;
}
