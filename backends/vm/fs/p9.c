/* p9 - serves 9P2000.L messages from a share. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/p9.h"

#include <errno.h>
#include <string.h>

#include "backends/vm/fs/p9_priv.h"

#define MSIZE_MIN 4096

/* ---- answers --------------------------------------------------------------------------------- */

struct buf *p9_begin(struct p9_session *s, uint8_t type, uint16_t tag)
{
	buf_clear(&s->out);
	p9_put_u32(&s->out, 0);
	p9_put_u8(&s->out, (uint8_t)(type + 1));
	p9_put_u16(&s->out, tag);
	return &s->out;
}

void p9_end(struct p9_session *s)
{
	for (int i = 0; i < 4; i++)
		s->out.data[i] = (char)(s->out.len >> (8 * i));
	s->send(s->data, s->out.data, s->out.len);
}

void p9_error(struct p9_session *s, uint16_t tag, int error)
{
	p9_put_u32(p9_begin(s, P9_LERROR, tag), (uint32_t)-error);
	p9_end(s);
}

void p9_reply_err(struct p9_req *r, int error)
{
	if (error) {
		p9_error(r->s, r->tag, error);
		return;
	}
	p9_begin(r->s, r->type, r->tag);
	p9_end(r->s);
}

void p9_put_qid(struct fs_tree *t, struct buf *out, const struct stat *st)
{
	p9_put_u8(out, S_ISDIR(st->st_mode) ? 0x80 : S_ISLNK(st->st_mode) ? 0x02 : 0);
	p9_put_u32(out, (uint32_t)(st->st_mtim.tv_sec ^ (st->st_mtim.tv_nsec << 8)));
	p9_put_u64(out, fs_ino(t, st));
}

/* ---- the session ----------------------------------------------------------------------------- */

static void begin_anew(struct p9_session *s)
{
	p9_cancel_all(s);
	p9_fids_done(s);
	fs_tree_reset(s->tree);
}

static void on_version(struct p9_req *r)
{
	uint32_t msize = p9_u32(&r->in);
	char version[32];
	struct buf *out;
	bool known;

	p9_str(&r->in, version, sizeof(version));
	if (r->in.bad || msize < MSIZE_MIN) {
		p9_reply_err(r, -EINVAL);
		return;
	}
	begin_anew(r->s);
	known = str_eq(version, "9P2000.L");
	r->s->ready = known;
	r->s->msize = MIN(msize, (uint32_t)P9_MSIZE_MAX);
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u32(out, r->s->msize);
	p9_put_str(out, known ? "9P2000.L" : "unknown");
	p9_end(r->s);
}

/* Who has the stream is the guest. */
static void on_auth(struct p9_req *r)
{
	p9_reply_err(r, -EOPNOTSUPP);
}

static void on_attach(struct p9_req *r)
{
	uint32_t fid = p9_u32(&r->in), afid = p9_u32(&r->in), uid;
	char uname[256], aname[PATH_MAX];
	struct fs_node *root = fs_node_get(&r->tree->nodes, FS_ROOT_ID);
	struct stat st;
	int got;

	p9_str(&r->in, uname, sizeof(uname));
	p9_str(&r->in, aname, sizeof(aname));
	uid = p9_u32(&r->in);
	if (r->in.bad || afid != P9_NO_FID) {
		p9_reply_err(r, -EINVAL);
		return;
	}
	got = fs_getattr(r->tree, root, &st);
	if (got == 0 && !p9_fid_new(r->s, fid, root, uid == UINT32_MAX ? 0 : uid))
		got = -EBADF;
	if (got < 0) {
		p9_reply_err(r, got);
		return;
	}
	p9_put_qid(r->tree, p9_begin(r->s, r->type, r->tag), &st);
	p9_end(r->s);
}

static void on_flush(struct p9_req *r)
{
	uint16_t old = p9_u16(&r->in);

	if (r->in.bad) {
		p9_reply_err(r, -EINVAL);
		return;
	}
	p9_cancel(r->s, old);
	p9_reply_err(r, 0);
}

static void on_clunk(struct p9_req *r)
{
	struct p9_fid *f = p9_fid_get(r->s, p9_u32(&r->in));

	if (r->in.bad || !f) {
		p9_reply_err(r, -EBADF);
		return;
	}
	if (f->use != P9_XATTR_WRITE || !p9_xattr_set(r, f))
		p9_reply_err(r, 0);
	p9_fid_free(r->s, f);
}

/* ---- walking --------------------------------------------------------------------------------- */

struct walk {
	size_t n;
	char name[P9_WALK_MAX][NAME_MAX + 1];
	struct stat st[P9_WALK_MAX];
};

/* As far as it goes; the node is pinned. The error is that of the first step that failed. */
static size_t walk(struct p9_req *r, struct walk *w, struct fs_node **at, int *error)
{
	size_t i;

	*error = 0;
	fs_node_pin(*at);
	for (i = 0; i < w->n; i++) {
		struct fs_node *next;

		*error = fs_lookup(r->tree, *at, w->name[i], &next, &w->st[i]);
		if (*error < 0)
			break;
		fs_node_pin(next);
		fs_node_forget(&r->tree->nodes, next->id, 1);
		fs_node_unpin(&r->tree->nodes, *at);
		*at = next;
	}
	return i;
}

static void on_walk(struct p9_req *r)
{
	static struct walk w; /* of the server's one thread */
	struct p9_fid *f = p9_fid_get(r->s, p9_u32(&r->in));
	uint32_t number = p9_u32(&r->in);
	struct fs_node *at;
	struct buf *out;
	size_t done;
	int error;

	w.n = p9_u16(&r->in);
	for (size_t i = 0; i < w.n && w.n <= P9_WALK_MAX; i++)
		p9_str(&r->in, w.name[i], sizeof(w.name[i]));
	if (r->in.bad || w.n > P9_WALK_MAX || !f || f->use != P9_NAME) {
		p9_reply_err(r, f && f->use == P9_NAME ? -EINVAL : -EBADF);
		return;
	}
	at = f->node;
	done = walk(r, &w, &at, &error);
	if (done == w.n && number == f->number)
		p9_fid_move(r->s, f, at);
	else if (done == w.n && !p9_fid_new(r->s, number, at, f->uid))
		error = -EBADF;
	fs_node_unpin(&r->tree->nodes, at);
	if (error < 0 && (done == 0 || done == w.n)) {
		p9_reply_err(r, error);
		return;
	}
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u16(out, (uint16_t)done);
	for (size_t i = 0; i < done; i++)
		p9_put_qid(r->tree, out, &w.st[i]);
	p9_end(r->s);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const p9_handler handlers[] = {
	[P9_STATFS] = p9_statfs,
	[P9_LOPEN] = p9_lopen,
	[P9_LCREATE] = p9_lcreate,
	[P9_SYMLINK] = p9_symlink,
	[P9_MKNOD] = p9_mknod,
	[P9_RENAME] = p9_rename,
	[P9_READLINK] = p9_readlink,
	[P9_GETATTR] = p9_getattr,
	[P9_SETATTR] = p9_setattr,
	[P9_XATTRWALK] = p9_xattrwalk,
	[P9_XATTRCREATE] = p9_xattrcreate,
	[P9_READDIR] = p9_readdir,
	[P9_FSYNC] = p9_fsync,
	[P9_LOCK] = p9_lock,
	[P9_GETLOCK] = p9_getlock,
	[P9_LINK] = p9_link,
	[P9_MKDIR] = p9_mkdir,
	[P9_RENAMEAT] = p9_renameat,
	[P9_UNLINKAT] = p9_unlinkat,
	[P9_VERSION] = on_version,
	[P9_AUTH] = on_auth,
	[P9_ATTACH] = on_attach,
	[P9_FLUSH] = on_flush,
	[P9_WALK] = on_walk,
	[P9_READ] = p9_read,
	[P9_WRITE] = p9_write,
	[P9_CLUNK] = on_clunk,
	[P9_REMOVE] = p9_remove,
};

bool p9_serve(struct p9_session *s, const void *message, size_t len)
{
	struct p9_req r = {.s = s, .tree = s->tree, .in = {.at = message}};

	r.in.end = r.in.at + len;
	if (p9_u32(&r.in) != len || len > s->msize)
		return false;
	r.type = p9_u8(&r.in);
	r.tag = p9_u16(&r.in);
	if (r.in.bad || p9_tag_waits(s, r.tag) || (!s->ready && r.type != P9_VERSION))
		return false;
	if (r.type >= ARRAY_LEN(handlers) || !handlers[r.type])
		p9_reply_err(&r, -EOPNOTSUPP);
	else
		handlers[r.type](&r);
	return true;
}

struct p9_session *p9_new(struct fs_tree *tree, p9_send send, void *data)
{
	struct p9_session *s = xcalloc(1, sizeof(*s));

	s->tree = tree;
	s->send = send;
	s->data = data;
	s->msize = P9_MSIZE_MAX;
	s->out = (struct buf)BUF_INIT;
	return s;
}

void p9_free(struct p9_session *s)
{
	if (!s)
		return;
	begin_anew(s);
	buf_done(&s->out);
	free(s);
}

size_t p9_waiting(const struct p9_session *s)
{
	return s->n_waits;
}

uint32_t p9_msize(const struct p9_session *s)
{
	return s->msize;
}
