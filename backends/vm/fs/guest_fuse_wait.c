/* guest_fuse_wait - FUSE requests that wait for the keeper, and the replies after its answer. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <utlist.h>

#include "backends/vm/fs/guest_fuse_priv.h"

static void wait_free(struct fuse_wait *w)
{
	DL_DELETE(w->s->waits, w);
	w->s->n_waits--;
	fs_node_unpin(&w->s->tree->nodes, w->node);
	free(w->from);
	free(w->to);
	free(w);
}

/* Cancels all waiting requests without a reply: the guest's memory was reset. */
void guest_fuse_cancel(struct fuse_session *s)
{
	while (s->waits) {
		struct fuse_wait *w = s->waits;

		fs_ask_cancel(s->tree->view->channel, w->ask);
		w->io->reply(w->io, NULL, 0, 0);
		wait_free(w);
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer(const struct fuse_wait *w, int error, const void *data, size_t len)
{
	guest_fuse_answer(w->io, w->unique, error, data, len);
}

/* Makes a handle. Takes fd. Returns NULL if too many files are open. */
static struct fs_handle *add_handle(const struct fuse_wait *w, uint64_t node, int fd)
{
	struct fs_handle *h;
	int flags = fcntl(fd, F_GETFL);

	h = fs_handle_new(&w->s->tree->handles, node, fd);
	if (h)
		h->writes = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
	return h;
}

static void opened(const struct fuse_wait *w, int fd)
{
	struct fs_handle *h = add_handle(w, w->node->id, fd);
	struct fuse_open_out out = {0};
	struct stat st;

	if (!h) {
		answer(w, -ENFILE, NULL, 0);
		return;
	}
	if (w->flags & O_TRUNC) { /* the guest itself changed the size */
		h->unnamed = fstat(fd, &st) == 0 && st.st_nlink == 0;
		fs_getattr(w->s->tree, w->node, &st);
	}
	out.fh = h->id;
	answer(w, 0, &out, sizeof(out));
}

static void created(const struct fuse_wait *w, int fd)
{
	struct {
		struct fuse_entry_out e;
		struct fuse_open_out o;
	} out = {0};
	struct fs_tree *t = w->s->tree;
	struct fs_handle *h;
	struct fs_node *n;
	struct stat st;
	int r = fs_enter_fd(t, fd, &n, &st);

	if (r < 0) {
		util_close_fd(&fd);
		answer(w, r, NULL, 0);
		return;
	}
	h = add_handle(w, n->id, fd);
	if (!h) {
		fs_node_forget(&t->nodes, n->id, 1);
		answer(w, -ENFILE, NULL, 0);
		return;
	}
	h->unnamed = st.st_nlink == 0;
	guest_fuse_fill_entry(t, &out.e, n, &st);
	out.o.fh = h->id;
	answer(w, 0, &out, sizeof(out));
}

static void made(const struct fuse_wait *w)
{
	struct fs_tree *t = w->s->tree;
	struct fuse_entry_out e;
	struct fs_node *n;
	struct stat st;
	int r = fs_lookup(t, w->node, w->name, &n, &st);

	if (r == 0)
		guest_fuse_fill_entry(t, &e, n, &st);
	answer(w, r, &e, sizeof(e));
}

static void changed(const struct fuse_wait *w)
{
	struct fuse_attr_out a = {.attr_valid = FUSE_VALID_S};
	struct stat st;
	int r = fs_getattr(w->s->tree, w->node, &st);

	if (r == 0)
		guest_fuse_fill_attr(w->s->tree, &a.attr, &st);
	answer(w, r, &a, sizeof(a));
}

/* Opens the node after the keeper has allowed the read. */
static void may_read(const struct fuse_wait *w)
{
	struct fs_tree *t = w->s->tree;
	struct fuse_open_out out = {0};
	int fd = fs_open_native(t, w->node);
	struct fs_handle *h = fd < 0 ? NULL : fs_handle_new(&t->handles, w->node->id, fd);

	if (h) {
		h->dir = S_ISDIR(w->node->type);
		out.fh = h->id;
		out.open_flags = h->dir ? 0 : guest_fuse_open_flags(w->node);
	}
	answer(w, h ? 0 : fd < 0 ? fd : -ENFILE, &out, sizeof(out));
}

static void done(void *data, int result, int fd)
{
	struct fuse_wait *w = data;
	bool given = result == 0 && fd >= 0;

	if (result == 0 && w->from)
		fs_nodes_renamed(&w->s->tree->nodes, w->from, w->to, w->flags & RENAME_EXCHANGE);
	if (given && w->opcode == FUSE_CREATE)
		created(w, take_fd(&fd));
	else if (given && w->opcode == FUSE_OPEN)
		opened(w, take_fd(&fd));
	else if (result < 0)
		answer(w, MAX(result, -4095), NULL, 0);
	else if (w->opcode == FUSE_OPEN || w->opcode == FUSE_OPENDIR)
		may_read(w);
	else if (w->opcode == FUSE_MKDIR || w->opcode == FUSE_MKNOD || w->opcode == FUSE_SYMLINK ||
		 w->opcode == FUSE_LINK)
		made(w);
	else if (w->opcode == FUSE_SETATTR)
		changed(w);
	else
		answer(w, w->opcode == FUSE_CREATE ? -EIO : 0, NULL, 0);
	util_close_fd(&fd);
	wait_free(w);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Returns the reply's size. A request with less room is refused before a node or handle is made. */
static size_t room_needed(uint32_t opcode)
{
	switch (opcode) {
	case FUSE_CREATE:
		return sizeof(struct fuse_entry_out) + sizeof(struct fuse_open_out);
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return sizeof(struct fuse_open_out);
	case FUSE_MKDIR:
	case FUSE_MKNOD:
	case FUSE_SYMLINK:
	case FUSE_LINK:
		return sizeof(struct fuse_entry_out);
	case FUSE_SETATTR:
		return sizeof(struct fuse_attr_out);
	default:
		return 0;
	}
}

void guest_fuse_ask(struct fuse_req *r, struct fs_node *node, const struct fs_note_parts *p,
		    uint32_t flags)
{
	struct fuse_wait *w;

	if (r->io->out_len < sizeof(struct fuse_out_header) + room_needed(r->h.opcode)) {
		guest_fuse_reply_err(r, -EINVAL);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->s = r->s;
	w->unique = r->h.unique;
	w->opcode = r->h.opcode;
	w->flags = flags;
	w->node = node;
	if (p->name[0])
		snprintf(w->name, sizeof(w->name), "%.*s", NAME_MAX, p->name[0]);
	if (r->h.opcode == FUSE_RENAME || r->h.opcode == FUSE_RENAME2) {
		w->from = fs_where_path(p->dir[0], p->name[0]);
		w->to = fs_where_path(p->dir[1], p->name[1]);
	}
	w->ask = fs_ask(r->tree->view->channel, p, done, w);
	if (!w->ask) {
		free(w->from);
		free(w->to);
		free(w);
		guest_fuse_reply_err(r, -ENAMETOOLONG);
		return;
	}
	w->io = take_ptr(&r->io);
	fs_node_pin(node);
	DL_APPEND(r->s->waits, w);
	r->s->n_waits++;
}
