/* test_vm_p9 - 9P2000.L messages: what they do on the host, its undo, and bad ones. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

#include <sys/xattr.h>

#include "backends/vm/fs/p9.h"
#include "backends/vm/fs/p9_stream.h"
#include "backends/vm/fs/p9_wire.h"

#define MSIZE 65536
#define ROOT  0u /* a fid */

struct client {
	struct vm *v;
	struct p9_session *p9;
	struct buf out;	  /* the request */
	struct buf reply; /* the last answer */
	bool answered;
	struct p9_in in; /* its fields */
	uint16_t tag;
};

static void on_answer(void *data, const void *message, size_t len)
{
	struct client *c = data;

	buf_clear(&c->reply);
	buf_add(&c->reply, message, len);
	c->answered = true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct buf *begin(struct client *c, uint8_t type)
{
	buf_clear(&c->out);
	p9_put_u32(&c->out, 0);
	p9_put_u8(&c->out, type);
	p9_put_u16(&c->out, ++c->tag);
	return &c->out;
}

/* 0 or negative errno of the answer, whose fields are in c->in; -EINPROGRESS: it is held. */
static int send_it(struct client *c)
{
	uint8_t type = (uint8_t)c->out.data[4], got;

	for (int i = 0; i < 4; i++)
		c->out.data[i] = (char)(c->out.len >> (8 * i));
	c->answered = false;
	assert_true(p9_serve(c->p9, c->out.data, c->out.len));
	for (int i = 0; i < 100 && !c->answered && c->v->shared->held == 0; i++)
		vm_turn(c->v, 1000);
	if (!c->answered)
		return -EINPROGRESS;
	c->in = (struct p9_in){.at = (const uint8_t *)c->reply.data};
	c->in.end = c->in.at + c->reply.len;
	assert_int_equal(p9_u32(&c->in), c->reply.len);
	got = p9_u8(&c->in);
	p9_u16(&c->in);
	if (got == 7)
		return -(int)p9_u32(&c->in);
	assert_int_equal(got, type + 1);
	return 0;
}

/* Of a path, name by name. */
static int walk(struct client *c, uint32_t fid, uint32_t newfid, const char *path)
{
	struct buf *b = begin(c, 110);
	size_t n = 0, at;
	int r;

	p9_put_u32(b, fid);
	p9_put_u32(b, newfid);
	at = b->len;
	p9_put_u16(b, 0);
	while (*path) {
		AUTO_FREE char *name = xstrndup(path, strcspn(path, "/"));

		p9_put_str(b, name);
		path += strlen(name);
		path += *path == '/';
		n++;
	}
	b->data[at] = (char)n;
	r = send_it(c);
	if (r < 0)
		return r;
	return p9_u16(&c->in) == n ? 0 : -ENOENT;
}

static int simple(struct client *c, uint8_t type, uint32_t fid)
{
	p9_put_u32(begin(c, type), fid);
	return send_it(c);
}

static int clunk(struct client *c, uint32_t fid)
{
	return simple(c, 120, fid);
}

static int lopen(struct client *c, uint32_t fid, int flags)
{
	struct buf *b = begin(c, 12);

	p9_put_u32(b, fid);
	p9_put_u32(b, (uint32_t)flags);
	return send_it(c);
}

static int lcreate(struct client *c, uint32_t fid, const char *name, int flags)
{
	struct buf *b = begin(c, 14);

	p9_put_u32(b, fid);
	p9_put_str(b, name);
	p9_put_u32(b, (uint32_t)flags);
	p9_put_u32(b, 0644);
	p9_put_u32(b, getegid());
	return send_it(c);
}

static int write_at(struct client *c, uint32_t fid, uint64_t at, const char *text)
{
	struct buf *b = begin(c, 118);

	p9_put_u32(b, fid);
	p9_put_u64(b, at);
	p9_put_u32(b, (uint32_t)strlen(text));
	buf_str(b, text);
	return send_it(c);
}

static int read_at(struct client *c, uint8_t type, uint32_t fid, uint64_t at, uint32_t count)
{
	struct buf *b = begin(c, type);

	p9_put_u32(b, fid);
	p9_put_u64(b, at);
	p9_put_u32(b, count);
	return send_it(c);
}

/* dirfid, name, and perhaps more. */
static struct buf *named(struct client *c, uint8_t type, uint32_t fid, const char *name)
{
	struct buf *b = begin(c, type);

	p9_put_u32(b, fid);
	p9_put_str(b, name);
	return b;
}

static int put(struct client *c, const char *name, const char *text)
{
	int r = walk(c, ROOT, 9, "");

	if (r == 0)
		r = lcreate(c, 9, name, O_WRONLY);
	if (r == 0)
		r = write_at(c, 9, 0, text);
	clunk(c, 9);
	return r;
}

static void version(struct client *c, const char *name)
{
	struct buf *b = begin(c, 100);

	p9_put_u32(b, MSIZE);
	p9_put_str(b, name);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(p9_u32(&c->in), MSIZE);
}

static void attach(struct client *c)
{
	struct buf *b = begin(c, 104);

	p9_put_u32(b, ROOT);
	p9_put_u32(b, UINT32_MAX);
	p9_put_str(b, "root");
	p9_put_str(b, "/any");
	p9_put_u32(b, geteuid());
	assert_int_equal(send_it(c), 0);
	assert_int_equal(p9_u8(&c->in), 0x80);
}

static struct client *client_new(bool headless)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->v = vm_new(headless);
	c->out = c->reply = (struct buf)BUF_INIT;
	c->p9 = p9_new(&c->v->tree, on_answer, c);
	version(c, "9P2000.L");
	attach(c);
	return c;
}

static int setup(void **state)
{
	*state = client_new(true);
	return 0;
}

static int setup_asking(void **state)
{
	*state = client_new(false);
	return 0;
}

static int teardown(void **state)
{
	struct client *c = *state;

	p9_free(c->p9);
	vm_free(c->v);
	buf_done(&c->out);
	buf_done(&c->reply);
	free(c);
	return 0;
}

static char *host_path(const struct client *c, const char *name)
{
	return path_join(c->v->folder, name);
}

static void plant(const struct client *c, const char *name, const char *text)
{
	AUTO_FREE char *path = host_path(c, name);

	assert_int_equal(io_write_file(AT_FDCWD, path, 0644, text, strlen(text), false), 0);
}

static void assert_content(const struct client *c, const char *name, const char *want)
{
	AUTO_FREE char *path = host_path(c, name), *text = NULL;

	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	assert_string_equal(text, want);
}

static bool exists(const struct client *c, const char *name)
{
	AUTO_FREE char *path = host_path(c, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void make_changes(struct client *c)
{
	struct buf *b;

	assert_int_equal(put(c, "new", "text"), 0);
	assert_int_equal(walk(c, ROOT, 2, "kept"), 0);
	assert_int_equal(lopen(c, 2, O_RDWR | O_TRUNC), 0);
	assert_int_equal(write_at(c, 2, 0, "second"), 0);
	assert_int_equal(clunk(c, 2), 0);
	b = named(c, 72, ROOT, "dir");
	p9_put_u32(b, 0755);
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), 0);
	b = named(c, 16, ROOT, "link");
	p9_put_str(b, "new");
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), 0);
	b = named(c, 18, ROOT, "pipe");
	p9_put_u32(b, S_IFIFO | 0600);
	p9_put_u64(b, 0);
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), 0);
	b = named(c, 74, ROOT, "new"); /* renameat */
	p9_put_u32(b, ROOT);
	p9_put_str(b, "named");
	assert_int_equal(send_it(c), 0);
	assert_int_equal(walk(c, ROOT, 3, "named"), 0);
	b = begin(c, 70); /* link */
	p9_put_u32(b, ROOT);
	p9_put_u32(b, 3);
	p9_put_str(b, "hard");
	assert_int_equal(send_it(c), 0);
	assert_int_equal(walk(c, ROOT, 4, "dir"), 0);
	b = begin(c, 20); /* rename */
	p9_put_u32(b, 3);
	p9_put_u32(b, 4);
	p9_put_str(b, "moved");
	assert_int_equal(send_it(c), 0);
	b = named(c, 76, ROOT, "gone"); /* unlinkat */
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(walk(c, ROOT, 5, "also"), 0);
	assert_int_equal(simple(c, 122, 5), 0); /* remove */
	assert_int_equal(clunk(c, 5), -EBADF);
}

static void changes_are_made_and_undone(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *before = NULL, *after = NULL, *now = NULL;
	struct err err = {0};

	plant(c, "kept", "first and longer");
	plant(c, "gone", "bytes");
	plant(c, "also", "bytes");
	before = tree_take(c->v->folder, ".cordon");
	make_changes(c);
	assert_content(c, "kept", "second");
	assert_content(c, "hard", "text");
	assert_content(c, "dir/moved", "text");
	assert_false(exists(c, "gone") || exists(c, "also") || exists(c, "named"));
	after = tree_take(c->v->folder, ".cordon");
	p9_free(take_ptr(&c->p9));
	vm_end_session(c->v);
	assert_int_equal(journal_undo(c->v->k.journal, UNDO_BACK, 1, 0, NULL, &err), 0);
	now = tree_take(c->v->folder, ".cordon");
	assert_true(tree_same(before, now));
	free(take_ptr(&now));
	assert_int_equal(journal_undo(c->v->k.journal, UNDO_REDO, 1, 0, NULL, &err), 0);
	now = tree_take(c->v->folder, ".cordon");
	assert_true(tree_same(after, now));
}

static void attributes_are_read_and_set(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *path = host_path(c, "f");
	struct stat st;
	struct buf *b;

	plant(c, "f", "0123456789");
	assert_int_equal(walk(c, ROOT, 1, "f"), 0);
	b = begin(c, 24);
	p9_put_u32(b, 1);
	p9_put_u64(b, 0x7ff);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(p9_u64(&c->in), 0x7ff);
	p9_bytes(&c->in, 13);
	assert_int_equal(p9_u32(&c->in), st.st_mode);
	assert_int_equal(p9_u32(&c->in), st.st_uid);
	p9_u32(&c->in);
	assert_int_equal(p9_u64(&c->in), 1);
	p9_u64(&c->in);
	assert_int_equal(p9_u64(&c->in), 10);
	b = begin(c, 26);
	p9_put_u32(b, 1);
	p9_put_u32(b, 1 | 8 | 0x20 | 0x100); /* mode, size, mtime with its value */
	p9_put_u32(b, 0600);
	p9_put_u32(b, 0);
	p9_put_u32(b, 0);
	p9_put_u64(b, 4);
	p9_put_u64(b, 0);
	p9_put_u64(b, 0);
	p9_put_u64(b, 12345);
	p9_put_u64(b, 678);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_mtim.tv_sec, 12345);
	assert_int_equal(st.st_mtim.tv_nsec, 678);
	assert_int_equal(simple(c, 8, 1), 0); /* statfs */
}

static void extended_attributes_are_written_at_the_clunk(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *path = host_path(c, "f");
	char value[16];
	struct buf *b;

	plant(c, "f", "x");
	if (setxattr(path, "user.probe", "x", 1, 0) < 0)
		skip(); /* this file system has none */
	assert_int_equal(walk(c, ROOT, 1, "f"), 0);
	b = named(c, 32, 1, "user.a");
	p9_put_u64(b, 5);
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(write_at(c, 1, 0, "val"), 0);
	assert_int_equal(write_at(c, 1, 3, "ue"), 0);
	assert_int_equal(write_at(c, 1, 5, "more"), -ENOSPC);
	assert_int_equal(clunk(c, 1), 0);
	assert_int_equal(getxattr(path, "user.a", value, sizeof(value)), 5);
	assert_memory_equal(value, "value", 5);
	assert_int_equal(walk(c, ROOT, 1, "f"), 0);
	b = begin(c, 30); /* xattrwalk */
	p9_put_u32(b, 1);
	p9_put_u32(b, 2);
	p9_put_str(b, "user.a");
	assert_int_equal(send_it(c), 0);
	assert_int_equal(p9_u64(&c->in), 5);
	assert_int_equal(read_at(c, 116, 2, 1, 100), 0);
	assert_int_equal(p9_u32(&c->in), 4);
	assert_memory_equal(c->in.at, "alue", 4);
	assert_int_equal(clunk(c, 2), 0);
	b = named(c, 32, 1, "user.a"); /* as removexattr(2) comes */
	p9_put_u64(b, 0);
	p9_put_u32(b, XATTR_REPLACE);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(clunk(c, 1), 0);
	assert_int_equal(getxattr(path, "user.a", value, sizeof(value)), -1);
}

static void a_directory_is_listed_in_pieces(void **state)
{
	struct client *c = *state;
	uint64_t offset = 0;
	size_t seen = 0;

	for (int i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "file%02d", i);
		plant(c, name, "");
	}
	assert_int_equal(walk(c, ROOT, 1, ""), 0);
	assert_int_equal(lopen(c, 1, O_RDONLY), 0);
	for (;;) {
		char name[NAME_MAX + 1];
		uint32_t len;

		assert_int_equal(read_at(c, 40, 1, offset, 200), 0);
		len = p9_u32(&c->in);
		assert_true(len <= 200);
		if (len == 0)
			break;
		while (c->in.at < c->in.end) {
			p9_bytes(&c->in, 13);
			offset = p9_u64(&c->in);
			p9_u8(&c->in);
			p9_str(&c->in, name, sizeof(name));
			assert_false(c->in.bad);
			seen += str_starts(name, "file");
		}
	}
	assert_int_equal(seen, 40);
}

static int lock(struct client *c, uint8_t type, uint32_t fid, uint8_t kind)
{
	struct buf *b = begin(c, type);

	p9_put_u32(b, fid);
	p9_put_u8(b, kind);
	if (type == 52)
		p9_put_u32(b, 0);
	p9_put_u64(b, 0);
	p9_put_u64(b, 0);
	p9_put_u32(b, 77);
	p9_put_str(b, "guest");
	assert_int_equal(send_it(c), 0);
	return p9_u8(&c->in);
}

/* Also between the guest and a program of the host's. */
static void locks_are_the_hosts(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *path = host_path(c, "f");
	struct flock own = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	AUTO_CLOSE int fd = -1;

	plant(c, "f", "x");
	for (uint32_t fid = 1; fid <= 2; fid++) {
		assert_int_equal(walk(c, ROOT, fid, "f"), 0);
		assert_int_equal(lopen(c, fid, O_RDWR), 0);
	}
	assert_int_equal(lock(c, 52, 1, 1), 0);
	assert_int_equal(lock(c, 52, 2, 1), 1); /* blocked */
	assert_int_equal(lock(c, 54, 2, 1), 1); /* by a write lock */
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), -1);
	assert_int_equal(lock(c, 52, 1, 2), 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), 0);
	assert_int_equal(lock(c, 52, 1, 0), 1);
	assert_int_equal(lock(c, 54, 1, 1), 1);
}

static void nothing_leads_out_of_the_folder(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *path = host_path(c, "out");
	struct buf *b;

	assert_int_equal(symlink("/etc", path), 0);
	assert_int_equal(walk(c, ROOT, 1, ".."), -EINVAL);
	assert_int_equal(walk(c, ROOT, 1, "out/passwd"), -ENOENT); /* it walks as far as the link */
	assert_int_equal(clunk(c, 1), -EBADF);
	assert_int_equal(walk(c, ROOT, 1, "out"), 0);
	assert_int_equal(lopen(c, 1, O_RDONLY), -ELOOP);
	assert_int_equal(lopen(c, 1, O_RDWR), -ENXIO);
	b = named(c, 72, ROOT, "../x");
	p9_put_u32(b, 0755);
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), -EINVAL);
	assert_int_equal(put(c, "a/b", "x"), -EINVAL);
	assert_int_equal(put(c, "out", "x"), -ELOOP);
	b = named(c, 18, ROOT, "null"); /* mknod */
	p9_put_u32(b, S_IFCHR | 0666);
	p9_put_u64(b, 0);
	p9_put_u32(b, 0);
	assert_int_equal(send_it(c), -EPERM);
}

/* Tflush: the question goes away, and the request has no answer. */
static void a_held_request_is_flushed(void **state)
{
	struct client *c = *state;
	AUTO_FREE char *git = host_path(c, ".git"), *hooks = path_join(git, "hooks");
	uint16_t held;

	assert_int_equal(mkdir(git, 0755), 0);
	assert_int_equal(mkdir(hooks, 0755), 0);
	assert_int_equal(walk(c, ROOT, 1, ".git/hooks"), 0);
	assert_int_equal(lcreate(c, 1, "pre-commit", O_WRONLY), -EINPROGRESS);
	held = c->tag;
	assert_int_equal(p9_waiting(c->p9), 1);
	p9_put_u16(begin(c, 108), held);
	assert_int_equal(send_it(c), 0);
	assert_int_equal(p9_waiting(c->p9), 0);
	for (int i = 0; i < 100 && c->v->shared->held > 0; i++)
		vm_turn(c->v, 100);
	assert_int_equal(c->v->shared->held, 0);
	/* A new session cancels, too. */
	assert_int_equal(lcreate(c, 1, "pre-push", O_WRONLY), -EINPROGRESS);
	version(c, "9P2000.L");
	assert_int_equal(p9_waiting(c->p9), 0);
	assert_int_equal(c->v->tree.nodes.slots.used, 1);
}

static void bad_messages_end_the_session(void **state)
{
	struct client *c = *state;
	static const uint8_t short_one[] = {7, 0, 0, 0, 120, 1, 0};
	static const uint8_t wrong_size[] = {9, 0, 0, 0, 120, 1, 0};

	/* Fields that are not there are an error of the request alone. */
	c->answered = false;
	assert_true(p9_serve(c->p9, short_one, sizeof(short_one)));
	assert_true(c->answered);
	assert_int_equal((uint8_t)c->reply.data[4], 7);
	assert_false(p9_serve(c->p9, wrong_size, sizeof(wrong_size)));
	version(c, "9P2000"); /* not ours: nothing is served until one is */
	p9_put_u32(begin(c, 8), ROOT);
	for (int i = 0; i < 4; i++)
		c->out.data[i] = (char)(c->out.len >> (8 * i));
	assert_false(p9_serve(c->p9, c->out.data, c->out.len));
}

/* Bytes come as they like. */
static void a_stream_is_cut_into_messages(void **state)
{
	struct client *c = *state;
	struct p9_stream *s;
	struct pollfd p;
	char answer[256];
	struct buf *b;
	int pair[2];

	p9_free(take_ptr(&c->p9));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s = p9_stream_new(pair[0], &c->v->tree);
	b = begin(c, 100);
	p9_put_u32(b, MSIZE);
	p9_put_str(b, "9P2000.L");
	b->data[0] = (char)b->len;
	for (size_t i = 0; i < b->len; i++) {
		assert_int_equal(send(pair[1], b->data + i, 1, 0), 1);
		p9_stream_poll(s, &p);
		assert_int_equal(poll(&p, 1, 0), 1);
		assert_true(p9_stream_serve(s, p.revents));
	}
	assert_int_equal(recv(pair[1], answer, sizeof(answer), MSG_DONTWAIT), 21);
	close(pair[1]);
	p9_stream_poll(s, &p);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_false(p9_stream_serve(s, p.revents));
	p9_stream_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_are_made_and_undone, setup, teardown),
		cmocka_unit_test_setup_teardown(attributes_are_read_and_set, setup, teardown),
		cmocka_unit_test_setup_teardown(extended_attributes_are_written_at_the_clunk, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_directory_is_listed_in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_are_the_hosts, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_leads_out_of_the_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(a_held_request_is_flushed, setup_asking, teardown),
		cmocka_unit_test_setup_teardown(bad_messages_end_the_session, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stream_is_cut_into_messages, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
