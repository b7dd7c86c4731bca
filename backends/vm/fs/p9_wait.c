/* p9_wait - 9P requests that wait for the keeper, and what its answer becomes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <utlist.h>

#include "backends/vm/fs/p9_priv.h"

static void wait_free(struct p9_wait *w)
{
	DL_DELETE(w->s->waits, w);
	w->s->n_waits--;
	fs_node_unpin(&w->s->tree->nodes, w->node);
	free(w->from);
	free(w->to);
	free(w);
}

bool p9_tag_waits(const struct p9_session *s, uint16_t tag)
{
	const struct p9_wait *w;

	DL_FOREACH (s->waits, w)
		if (w->tag == tag)
			return true;
	return false;
}

static void cancel(struct p9_wait *w)
{
	fs_ask_cancel(w->s->tree->view->channel, w->ask);
	wait_free(w);
}

void p9_cancel(struct p9_session *s, uint16_t tag)
{
	struct p9_wait *w, *next;

	DL_FOREACH_SAFE (s->waits, w, next)
		if (w->tag == tag)
			cancel(w);
}

void p9_cancel_all(struct p9_session *s)
{
	while (s->waits)
		cancel(s->waits);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void empty(const struct p9_wait *w)
{
	p9_begin(w->s, w->type, w->tag);
	p9_end(w->s);
}

/* The fid that was named, if it is still the same one and nothing was opened through it. */
static struct p9_fid *fid_of(const struct p9_wait *w)
{
	struct p9_fid *f = p9_fid_get(w->s, w->fid);

	return f && f->serial == w->serial && f->use == P9_NAME ? f : NULL;
}

/* Takes fd. */
static void opened(const struct p9_wait *w, int fd)
{
	struct p9_session *s = w->s;
	struct p9_fid *f = fid_of(w);
	struct fs_node *n = w->node;
	struct stat st;
	struct buf *out;
	int flags = fcntl(fd, F_GETFL), r = 0;

	if (f && w->type == P9_LCREATE)
		r = fs_enter_fd(s->tree, fd, &n, &st);
	else if (f)
		r = fs_getattr(s->tree, n, &st);
	if (!f || r < 0) {
		util_close_fd(&fd);
		p9_error(s, w->tag, r < 0 ? r : -EBADF);
		return;
	}
	if (w->type == P9_LCREATE) {
		p9_fid_move(s, f, n);
		fs_node_forget(&s->tree->nodes, n->id, 1);
	}
	f->fd = fd;
	f->use = S_ISDIR(n->type) ? P9_DIR : P9_FILE;
	f->writes = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
	f->unnamed = f->writes && fstat(fd, &st) == 0 && st.st_nlink == 0;
	out = p9_begin(s, w->type, w->tag);
	p9_put_qid(s->tree, out, &st);
	p9_put_u32(out, s->msize - 24);
	p9_end(s);
}

static void made(const struct p9_wait *w)
{
	struct fs_tree *t = w->s->tree;
	struct fs_node *n;
	struct stat st;
	int r = fs_lookup(t, w->node, w->name, &n, &st);

	if (r < 0) {
		p9_error(w->s, w->tag, r);
		return;
	}
	fs_node_forget(&t->nodes, n->id, 1);
	p9_put_qid(t, p9_begin(w->s, w->type, w->tag), &st);
	p9_end(w->s);
}

static void may_read(const struct p9_wait *w)
{
	int fd = fs_open_native(w->s->tree, w->node);

	if (fd < 0)
		p9_error(w->s, w->tag, fd);
	else
		opened(w, fd);
}

static void done(void *data, int result, int fd)
{
	struct p9_wait *w = data;
	bool given = result == 0 && fd >= 0;

	if (result == 0 && w->from)
		fs_nodes_renamed(&w->s->tree->nodes, w->from, w->to, w->flags & RENAME_EXCHANGE);
	if (given && (w->type == P9_LOPEN || w->type == P9_LCREATE))
		opened(w, take_fd(&fd));
	else if (result < 0)
		p9_error(w->s, w->tag, MAX(result, -4095));
	else if (w->type == P9_LOPEN)
		may_read(w);
	else if (w->type == P9_SYMLINK || w->type == P9_MKNOD || w->type == P9_MKDIR)
		made(w);
	else if (w->type == P9_LCREATE)
		p9_error(w->s, w->tag, -EIO);
	else
		empty(w);
	util_close_fd(&fd);
	wait_free(w);
}

/* ---- questions ------------------------------------------------------------------------------- */

void p9_ask(struct p9_req *r, const struct p9_fid *f, struct fs_node *node,
	    const struct fs_note_parts *p, uint32_t flags)
{
	struct p9_wait *w;

	if (r->s->n_waits >= P9_WAITS) {
		p9_reply_err(r, -EAGAIN);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->s = r->s;
	w->tag = r->tag;
	w->type = r->type;
	w->fid = f->number;
	w->serial = f->serial;
	w->flags = flags;
	w->node = node;
	if (p->name[0])
		snprintf(w->name, sizeof(w->name), "%.*s", NAME_MAX, p->name[0]);
	if (r->type == P9_RENAME || r->type == P9_RENAMEAT) {
		w->from = fs_where_path(p->dir[0], p->name[0]);
		w->to = fs_where_path(p->dir[1], p->name[1]);
	}
	w->ask = fs_ask(r->tree->view->channel, p, done, w);
	if (!w->ask) {
		free(w->from);
		free(w->to);
		free(w);
		p9_reply_err(r, -ENAMETOOLONG);
		return;
	}
	fs_node_pin(node);
	DL_APPEND(r->s->waits, w);
	r->s->n_waits++;
}
