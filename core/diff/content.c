/* content - one side of a change: its text, or what can be said about it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sha256.h>
#include <string.h>

#include "core/base/io.h"
#include "core/diff/diff_priv.h"

/* The length in which git looks for a NUL. */
#define BINARY_PROBE 8000
/* A larger content has no hash: a sparse file of 15 TiB would take hours to read. */
#define HASH_MAX ((uint64_t)256 << 20)

void content_done(struct content *c)
{
	free(c->data);
	c->data = NULL;
}

static void finish_hash(struct content *c, SHA256_CTX *ctx)
{
	uint8_t raw[SHA256_DIGEST_LENGTH];

	SHA256Final(raw, ctx);
	for (size_t i = 0; i < (sizeof(c->hash) - 1) / 2; i++)
		snprintf(c->hash + 2 * i, 3, "%02x", raw[i]);
}

/* Leaves the hash empty if the content is larger than HASH_MAX. It may grow while it is read. */
static int hash_fd(struct content *c, int fd)
{
	const size_t chunk = 256u << 10;
	AUTO_FREE uint8_t *part = xmalloc(chunk);
	SHA256_CTX ctx;
	ssize_t n = 1;

	if (c->size > HASH_MAX)
		return 0;
	SHA256Init(&ctx);
	c->size = 0;
	while (c->size <= HASH_MAX && (n = io_read_full(fd, part, chunk)) > 0) {
		SHA256Update(&ctx, part, (size_t)n);
		c->size += (uint64_t)n;
	}
	if (n == 0)
		finish_hash(c, &ctx);
	return (int)MIN(n, 0);
}

static int read_fd(struct content *c, int fd)
{
	SHA256_CTX ctx;
	int r = io_read_all(fd, DIFF_MAX_BYTES, &c->data, &c->len);

	if (r < 0)
		return r;
	c->size = c->len;
	if (!memchr(c->data, '\0', MIN(c->len, (size_t)BINARY_PROBE)))
		return 0;
	c->binary = true;
	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)c->data, c->len);
	finish_hash(c, &ctx);
	content_done(c);
	return 0;
}

static bool has_bytes(const struct change_side *s)
{
	return s->exists && (S_ISREG(s->mode) || S_ISLNK(s->mode));
}

static int open_side(struct journal *j, const struct pair *p, bool after, int *ret_fd,
		     struct err *err)
{
	const struct change *c = after ? p->after_change : p->before_change;
	struct change_side now;

	if (p->between && after && !c)
		return journal_present(j, p->new_path, &now, ret_fd, err);
	return journal_content(j, after ? p->after_step : p->before_step, c, after != p->between,
			       ret_fd, err);
}

int content_load(struct content *ret, struct journal *j, const struct pair *p, bool after,
		 struct err *err)
{
	const struct change_side *side = after ? &p->after : &p->before;
	struct err why = {0};
	AUTO_CLOSE int fd = -1;
	int r;

	*ret = (struct content){.exists = side->exists, .size = side->size};
	if (!has_bytes(side)) {
		ret->data = xstrdup("");
		return 0;
	}
	r = open_side(j, p, after, &fd, &why);
	if (r == -ESTALE) {
		ret->gone = true;
		return 0;
	}
	if (r < 0)
		return err_say(err, r, "%s", why.text);
	ret->binary = side->size > DIFF_MAX_BYTES;
	r = ret->binary ? hash_fd(ret, fd) : read_fd(ret, fd);
	if (r == -EFBIG) /* it has grown */
		r = 0, ret->gone = true;
	return r < 0 ? err_set(err, r, "read '%s'", after ? p->new_path : p->old_path) : 0;
}
