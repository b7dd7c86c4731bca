/* step_summary - the summary file of a committed step: its information and net changes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/history.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/codec.h"

#define SUMMARY_MAGIC 0x324d5553u /* "SUM2" */

enum {
	SUMMARY_PARTIAL = 1,
	SUMMARY_TURNED = 2,
	SUMMARY_ELSEWHERE = 4,
	SUMMARY_GRANTED = 8,
};

static void put_side(struct buf *b, const struct change_side *c)
{
	codec_put_u32(b, c->mode);
	codec_put_u32(b, c->uid);
	codec_put_u32(b, c->gid);
	codec_put_u64(b, c->size);
	codec_put_u64(b, c->ino);
	codec_put_u64(b, (uint64_t)c->mtime_ns);
}

static void get_side(struct codec_reader *g, struct change_side *c)
{
	c->mode = codec_get_u32(g);
	c->uid = codec_get_u32(g);
	c->gid = codec_get_u32(g);
	c->size = codec_get_u64(g);
	c->ino = codec_get_u64(g);
	c->mtime_ns = (int64_t)codec_get_u64(g);
	c->exists = c->mode != 0;
}

static void put_info(struct buf *b, const struct step_info *i)
{
	const char *command = i->command ? i->command : "", *why = i->why ? i->why : "";
	const char *bare = i->unprotected ? i->unprotected : "";

	codec_put_u64(b, (uint64_t)i->id);
	codec_put_u32(b, i->kind);
	codec_put_u64(b, (uint64_t)i->began_us);
	codec_put_u64(b, (uint64_t)i->ended_us);
	codec_put_u32(b, (uint32_t)i->exit_status);
	codec_put_u32(b, i->incomplete);
	codec_put_u64(b, i->created);
	codec_put_u64(b, i->modified);
	codec_put_u64(b, i->deleted);
	codec_put_u64(b, i->renamed);
	codec_put_str(b, command, strlen(command));
	codec_put_str(b, why, strlen(why));
	codec_put_u32(b, i->unprotected != NULL);
	codec_put_str(b, bare, strlen(bare));
}

static void get_info(struct codec_reader *g, struct step_info *i)
{
	bool unprotected;
	struct span s;

	i->id = (int64_t)codec_get_u64(g);
	i->kind = codec_get_u32(g);
	i->began_us = (int64_t)codec_get_u64(g);
	i->ended_us = (int64_t)codec_get_u64(g);
	i->exit_status = (int)codec_get_u32(g);
	i->incomplete = codec_get_u32(g) != 0;
	i->created = codec_get_u64(g);
	i->modified = codec_get_u64(g);
	i->deleted = codec_get_u64(g);
	i->renamed = codec_get_u64(g);
	s = codec_get_str(g);
	i->command = xstrndup(s.data, s.len);
	s = codec_get_str(g);
	i->why = s.len ? xstrndup(s.data, s.len) : NULL;
	unprotected = codec_get_u32(g) != 0;
	s = codec_get_str(g);
	i->unprotected = unprotected ? xstrndup(s.data, s.len) : NULL;
}

static void get_flags(struct codec_reader *g, struct summary *s)
{
	uint32_t flags = codec_get_u32(g);

	s->partial = flags & SUMMARY_PARTIAL;
	s->info.elsewhere = flags & SUMMARY_ELSEWHERE;
	s->info.granted = flags & SUMMARY_GRANTED;
}

static void put_change(struct buf *b, const struct change *c)
{
	codec_put_u32(b, c->kind);
	codec_put_u32(b, c->linked);
	codec_put_u32(b, (uint32_t)c->root);
	codec_put_str(b, c->path, strlen(c->path));
	codec_put_str(b, c->old_path ? c->old_path : "", c->old_path ? strlen(c->old_path) : 0);
	put_side(b, &c->before);
	put_side(b, &c->after);
}

static uint32_t flags_of(const struct journal *j, const struct nets *nets, bool partial)
{
	return (partial ? SUMMARY_PARTIAL : 0u) | (nets->inverted ? SUMMARY_TURNED : 0u) |
	       (nets_elsewhere(nets, j) ? SUMMARY_ELSEWHERE : 0u);
}

int summary_write(struct journal *j, int stepdir, const struct step_info *info, bool partial,
		  const struct nets *nets)
{
	struct chunked_out out = CHUNKED_OUT_NONE;

	chunked_out_begin(&out, stepdir, "summary");
	codec_put_u32(&out.buf, SUMMARY_MAGIC);
	codec_put_u64(&out.buf, store_seq(j));
	put_info(&out.buf, info);
	codec_put_u32(&out.buf,
		      flags_of(j, nets, partial) | (info->granted ? SUMMARY_GRANTED : 0u));
	codec_put_u32(&out.buf, (uint32_t)nets->n);
	for (size_t i = 0; i < nets->n; i++) {
		struct change c;

		nets_get(nets, i, &c);
		put_change(&out.buf, &c);
		chunked_out_spill(&out);
	}
	return chunked_out_end(&out, 0, (struct span){0});
}

int summary_seq(int stepdir, uint64_t *ret)
{
	AUTO_CLOSE int fd = openat(stepdir, "summary", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[12];
	struct codec_reader g = {.p = head, .end = head + sizeof(head)};
	ssize_t n = fd < 0 ? -errno : io_pread_full(fd, head, sizeof(head), 0);

	if (n < (ssize_t)sizeof(head) || codec_get_u32(&g) != SUMMARY_MAGIC)
		return n < 0 ? (int)n : -EBADMSG;
	*ret = codec_get_u64(&g);
	return 0;
}

void summary_done(struct summary *s)
{
	free(s->info.command);
	free(s->info.why);
	free(s->info.unprotected);
	change_free(s->changes, s->n);
	*s = (struct summary){0};
}

/* Reads one change; its strings are borrowed from the reader. */
static void get_change(struct codec_reader *g, struct change *c)
{
	struct span path, old;

	*c = (struct change){.kind = codec_get_u32(g), .linked = codec_get_u32(g) != 0};
	c->root = (int)codec_get_u32(g);
	path = codec_get_str(g);
	old = codec_get_str(g);
	c->path = (char *)(uintptr_t)path.data;
	c->old_path = old.len ? (char *)(uintptr_t)old.data : NULL;
	get_side(g, &c->before);
	get_side(g, &c->after);
}

static int read_head(struct chunked_in *in, struct summary *ret, uint32_t *ret_n)
{
	struct codec_reader g;
	int r;

	do {
		r = chunked_in_more(in);
		g = chunked_in_get(in);
		summary_done(ret);
		if (r == 0 && codec_get_u32(&g) != SUMMARY_MAGIC)
			r = -EBADMSG;
		codec_get_u64(&g); /* summary_seq() */
		get_info(&g, &ret->info);
		get_flags(&g, ret);
		*ret_n = codec_get_u32(&g);
	} while (r == 0 && g.bad);
	chunked_in_took(in, &g);
	return r;
}

int summary_read(int stepdir, struct summary *ret,
		 void (*fn)(void *data, const struct summary *s, const struct change *c),
		 void *data)
{
	AUTO_CHUNKED_IN struct chunked_in in = CHUNKED_IN_NONE;
	struct summary s = {0};
	uint32_t n = 0;
	int r = chunked_in_open(&in, stepdir, "summary");

	if (r == 0)
		r = read_head(&in, &s, &n);
	while (r == 0 && fn && n) {
		struct codec_reader g = chunked_in_get(&in);
		struct change c;

		get_change(&g, &c);
		if (g.bad) {
			r = chunked_in_more(&in);
			continue;
		}
		fn(data, &s, &c);
		chunked_in_took(&in, &g);
		n--;
	}
	if (r < 0)
		summary_done(&s);
	else
		*ret = s;
	return r;
}

static void collect(void *data, const struct summary *head, const struct change *c)
{
	struct summary *to = data;

	(void)head;
	if (to->n % 64 == 0)
		to->changes = xrealloc(to->changes, (to->n + 64) * sizeof(*to->changes));
	to->changes[to->n] = *c;
	to->changes[to->n].path = xstrdup(c->path);
	to->changes[to->n++].old_path = xstrdup(c->old_path);
}

int summary_load(int stepdir, bool with_changes, struct summary *ret)
{
	struct summary head,
		all = {.changes = with_changes ? xcalloc(1, sizeof(*all.changes)) : NULL};
	int r = summary_read(stepdir, &head, with_changes ? collect : NULL, &all);

	if (r < 0) {
		change_free(all.changes, all.n);
		return r;
	}
	head.changes = all.changes;
	head.n = all.n;
	*ret = head;
	return 0;
}
