/* test_gate_fuse - the read gate's handlers, called as by the kernel and compared with the disk. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "core/base/buf.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/support/fake_fuse.h"

#define MANY 3000

static char *base, *tree;

/* ---- a tree ---------------------------------------------------------------------------------- */

static char *at(const char *name)
{
	static char paths[2][PATH_MAX]; /* a call may have two paths */
	static int n;

	n = !n;
	snprintf(paths[n], sizeof(paths[n]), "%s/%s", tree, name);
	return paths[n];
}

static void write_file(const char *name, const char *text)
{
	AUTO_CLOSE int fd = open(at(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static int group_set_up(void **state)
{
	const char *dir = getenv("TEST_TMP");
	struct policy_spec spec = {.dynamic = true};
	struct err err = {0};
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	(void)state;
	base = xasprintf("%s/test_gate_fuse.XXXXXX", dir ? dir : cwd);
	if (!mkdtemp(base))
		return -1;
	spec.home = base;
	return policy_new(&fake.policy, &spec, &err);
}

static int group_tear_down(void **state)
{
	(void)state;
	policy_free(fake.policy);
	close(fake.keeper);
	close(fake.sock);
	free(base);
	return 0;
}

static int set_up(void **state)
{
	static int n;

	(void)state;
	tree = xasprintf("%s/tree%d", base, n++); /* each test has its own grants */
	assert_int_equal(mkdir(tree, 0755), 0);
	assert_int_equal(mkdir(at("d"), 0711), 0);
	write_file("d/a", "content of a");
	assert_int_equal(symlink("../d/a", at("d/link")), 0);
	assert_int_equal(mkfifo(at("d/pipe"), 0600), 0);
	fake_begin(tree);
	return 0;
}

static int tear_down(void **state)
{
	int r;

	(void)state;
	fake_end();
	r = io_remove_tree(AT_FDCWD, tree);
	free(take_ptr(&tree));
	return r;
}

/* ---- requests -------------------------------------------------------------------------------- */

static int look_up(uint64_t dir, const char *name, struct fuse_entry_out *ret)
{
	struct fake_reply r = fake_ask_name(FUSE_LOOKUP, dir, NULL, 0, name);

	assert_true(r.there);
	if (r.error == 0) {
		assert_int_equal(r.len, sizeof(*ret));
		memcpy(ret, r.data, sizeof(*ret));
	}
	return r.error;
}

static uint64_t need(uint64_t dir, const char *name)
{
	struct fuse_entry_out e;

	assert_int_equal(look_up(dir, name, &e), 0);
	return e.nodeid;
}

static void forget(uint64_t node, uint64_t times)
{
	struct fuse_forget_in in = {.nlookup = times};

	assert_false(fake_ask(FUSE_FORGET, node, &in, sizeof(in)).there);
}

static struct fake_reply ask_open(uint64_t node, bool dir)
{
	struct fuse_open_in in = {.flags = O_RDONLY | (dir ? O_DIRECTORY : 0)};

	return fake_ask(dir ? FUSE_OPENDIR : FUSE_OPEN, node, &in, sizeof(in));
}

static uint64_t handle_of(struct fake_reply r)
{
	struct fuse_open_out out;

	assert_true(r.there);
	assert_int_equal(r.error, 0);
	memcpy(&out, r.data, sizeof(out));
	return out.fh;
}

static void release(uint64_t node, uint64_t handle, bool dir)
{
	struct fuse_release_in in = {.fh = handle};

	assert_int_equal(
		fake_ask(dir ? FUSE_RELEASEDIR : FUSE_RELEASE, node, &in, sizeof(in)).error, 0);
}

static struct fake_reply ask_read(uint64_t node, uint64_t handle, uint64_t offset, uint32_t size)
{
	struct fuse_read_in in = {.fh = handle, .offset = offset, .size = size};
	struct fake_reply r = fake_ask(FUSE_READ, node, &in, sizeof(in));

	assert_true(r.there);
	assert_int_equal(r.error, 0);
	return r;
}

/* Returns the question that the keeper got; it got nothing else. */
static uint64_t question(const char *path)
{
	struct gate_note note;

	assert_true(fake_told(&note));
	assert_int_equal(note.what, GATE_ASK);
	assert_string_equal(note.path, path);
	return note.id;
}

static void nothing_said(void)
{
	struct gate_note note;

	assert_false(fake_told(&note));
}

static size_t open_files(void)
{
	AUTO_DIR DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n;
}

static pid_t dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* ---- names and attributes -------------------------------------------------------------------- */

TEST(names_are_what_the_disk_says)
{
	static const char *const names[] = {"a", "link"};
	uint64_t d = need(FUSE_ROOT_ID, "d");
	struct fuse_entry_out e;
	struct fake_reply r;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *name = xasprintf("d/%s", names[i]);

		assert_int_equal(lstat(at(name), &st), 0);
		assert_int_equal(look_up(d, names[i], &e), 0);
		assert_int_equal(e.attr.ino, st.st_ino);
		assert_int_equal(e.attr.mode, st.st_mode);
		assert_int_equal(e.attr.size, st.st_size);
		assert_int_equal(e.attr.mtime, st.st_mtim.tv_sec);
		assert_int_equal(e.attr.mtimensec, st.st_mtim.tv_nsec);
	}
	r = fake_ask(FUSE_READLINK, need(d, "link"), NULL, 0);
	assert_int_equal(r.len, strlen("../d/a"));
	assert_memory_equal(r.data, "../d/a", r.len);
	/* A pipe is shown as a plain file, which is never opened. */
	assert_int_equal(look_up(d, "pipe", &e), 0);
	assert_int_equal(e.attr.mode, S_IFREG | 0600);
	assert_int_equal(look_up(FUSE_ROOT_ID, "..", &e), -EXDEV);
	assert_int_equal(look_up(d, "nothing", &e), -ENOENT);
	nothing_said();
}

TEST(names_of_any_length)
{
	char name[1024 + 1];
	struct fuse_entry_out e;

	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	write_file(name, "long");
	assert_int_equal(look_up(FUSE_ROOT_ID, name, &e), 0);
	name[NAME_MAX] = 'n';
	name[1024] = '\0';
	assert_int_equal(look_up(FUSE_ROOT_ID, name, &e), -ENAMETOOLONG);
	/* Every byte that a name may have. */
	for (int c = 1, i = 0; c < 256; c++)
		if (c != '/') {
			name[i++] = (char)c;
			name[i] = '\0';
		}
	write_file(name, "bytes");
	assert_int_equal(look_up(FUSE_ROOT_ID, name, &e), 0);
	assert_int_equal(e.attr.size, strlen("bytes"));
}

TEST(attributes_are_told_in_any_size)
{
	uint64_t d = need(FUSE_ROOT_ID, "d"), a = need(d, "a");
	struct fuse_getxattr_in in = {.size = 0};
	struct fuse_getxattr_out out;
	struct fake_reply r;

	if (setxattr(at("d/a"), "user.color", "violet", 6, 0) < 0)
		skip();
	r = fake_ask_name(FUSE_GETXATTR, a, &in, sizeof(in), "user.color");
	memcpy(&out, r.data, sizeof(out));
	assert_int_equal(out.size, 6);
	in.size = 5;
	assert_int_equal(fake_ask_name(FUSE_GETXATTR, a, &in, sizeof(in), "user.color").error,
			 -ERANGE);
	in.size = 65536;
	r = fake_ask_name(FUSE_GETXATTR, a, &in, sizeof(in), "user.color");
	assert_int_equal(r.len, 6);
	assert_memory_equal(r.data, "violet", 6);
	assert_int_equal(fake_ask_name(FUSE_GETXATTR, a, &in, sizeof(in), "user.none").error,
			 -ENODATA);
	r = fake_ask(FUSE_LISTXATTR, a, &in, sizeof(in));
	assert_non_null(memmem(r.data, r.len, "user.color", sizeof("user.color")));
}

/* ---- opens ----------------------------------------------------------------------------------- */

TEST(an_open_waits_for_the_keeper)
{
	uint64_t d = need(FUSE_ROOT_ID, "d"), a = need(d, "a"), b, asked, handle;
	size_t files = open_files();
	struct fake_reply r;

	assert_false(ask_open(a, false).there);
	asked = question(at("d/a"));
	/* The descriptor is for the file at the time of the question. */
	assert_int_equal(rename(at("d/a"), at("d/moved")), 0);
	write_file("d/a", "something else");
	fake_answer(asked + 1, 0);
	assert_false(fake_hear().there);
	fake_answer(asked, 0);
	handle = handle_of(fake_hear());
	r = ask_read(a, handle, 0, 4096);
	assert_int_equal(r.len, strlen("content of a"));
	assert_memory_equal(r.data, "content of a", r.len);
	release(a, handle, false);
	assert_int_equal(open_files(), files);
	assert_int_equal(ask_open(a, false).error, -ESTALE);
	b = need(d, "a");
	forget(a, 1);
	assert_false(ask_open(b, false).there);
	fake_answer(question(at("d/a")), -EACCES);
	assert_int_equal(fake_hear().error, -EACCES);
	assert_int_equal(open_files(), files);
	nothing_said();
}

TEST(what_a_rule_allows_is_not_asked)
{
	uint64_t d = need(FUSE_ROOT_ID, "d"), a = need(d, "a"), rule;
	AUTO_FREE char *granted = xasprintf("%s/", at("d"));
	uint64_t let_in = atomic_load(&fake.page.let_in);

	rule = fake_grant(RULE_READ, granted);
	release(a, handle_of(ask_open(a, false)), false);
	nothing_said();
	assert_int_equal(atomic_load(&fake.page.let_in), let_in + 1);
	/* The keeper has counted a change of which this server has no note: it asks. */
	atomic_fetch_add(&fake.page.changes, 1);
	assert_false(ask_open(a, false).there);
	fake_say(&(struct gate_note){.id = rule, .what = GATE_REVOKED}, 1);
	fake_answer(question(at("d/a")), -EACCES);
	assert_int_equal(fake_hear().error, -EACCES);
	assert_false(ask_open(a, false).there);
	fake_answer(question(at("d/a")), -EACCES);
	assert_int_equal(fake_hear().error, -EACCES);
}

TEST(special_files_stay_shut)
{
	uint64_t d = need(FUSE_ROOT_ID, "d"), pipe = need(d, "pipe"), link = need(d, "link");
	struct fuse_open_in in = {.flags = O_WRONLY};
	struct gate_note note;

	assert_false(ask_open(pipe, false).there);
	assert_true(fake_told(&note));
	assert_true(note.special);
	fake_answer(note.id, 0); /* even so */
	assert_int_equal(fake_hear().error, -EACCES);
	assert_int_equal(fake_ask(FUSE_OPEN, need(d, "a"), &in, sizeof(in)).error, -EACCES);
	assert_int_equal(ask_open(d, false).error, -EACCES);
	assert_int_equal(ask_open(link, true).error, -EACCES);
	nothing_said();
}

static void interrupt(uint64_t unique)
{
	struct fuse_interrupt_in in = {.unique = unique};

	assert_false(fake_ask(FUSE_INTERRUPT, 0, &in, sizeof(in)).there);
}

TEST(only_the_dying_are_let_go)
{
	uint64_t d = need(FUSE_ROOT_ID, "d"), a = need(d, "a"), asked;
	size_t files = open_files();
	struct gate_note note;
	int idle = gate_held_wait_ms();

	assert_false(ask_open(a, false).there);
	asked = question(at("d/a"));
	interrupt(fake.unique);
	assert_int_equal(gate_held_wait_ms(), 20);
	assert_true(gate_held_serve(0, false));
	assert_false(fake_hear().there); /* this process lives */
	fake_answer(asked, -EPERM);
	assert_int_equal(fake_hear().error, -EPERM);
	assert_int_equal(gate_held_wait_ms(), idle);

	fake.tid = dead_process();
	assert_false(ask_open(a, false).there);
	asked = question(at("d/a"));
	interrupt(fake.unique);
	while (!fake_told(&note))
		assert_true(gate_held_serve(0, false));
	assert_int_equal(note.what, GATE_CANCEL);
	assert_int_equal(note.id, asked);
	assert_int_equal(fake_hear().error, -EINTR);
	fake_answer(asked, 0); /* it was already sent */
	assert_false(fake_hear().there);
	assert_int_equal(open_files(), files);
	assert_int_equal(gate_held_wait_ms(), idle);
}

/* More than fit into the socket to the keeper, and more than may be held. */
TEST(many_are_held)
{
	enum {
		HELD = 4096
	};
	static uint64_t ids[HELD];
	uint64_t pipe = need(need(FUSE_ROOT_ID, "d"), "pipe"); /* its open costs no descriptor */
	size_t files = open_files(), told = 0, failed = 0;
	struct gate_note note;

	for (int i = 0; i < HELD; i++)
		assert_false(ask_open(pipe, false).there);
	assert_int_equal(ask_open(pipe, false).error, -EACCES);
	assert_int_equal(gate_held_events(), POLLIN | POLLOUT);
	while (told < HELD) {
		if (!fake_told(&note)) {
			assert_true(gate_held_serve(POLLOUT, false));
			continue;
		}
		assert_int_equal(note.what, GATE_ASK);
		ids[told++] = note.id;
	}
	assert_int_equal(gate_held_events(), POLLIN);
	for (size_t i = 0; i < HELD; i++) {
		fake_answer(ids[i], -EACCES);
		failed += fake_hear().error == -EACCES;
	}
	assert_int_equal(failed, HELD);
	assert_int_equal(open_files(), files);
	nothing_said();
}

/* ---- content --------------------------------------------------------------------------------- */

static uint64_t open_granted(uint64_t node)
{
	return handle_of(ask_open(node, false));
}

/* The kernel caches a size for a while, but a new open reads the present content. */
TEST(a_file_that_changes_is_read_as_it_is)
{
	AUTO_FREE char *granted = xasprintf("%s/", tree);
	uint64_t d = need(FUSE_ROOT_ID, "d"), a = need(d, "a"), handle;

	fake_grant(RULE_READ, granted);
	fake.outdated = 0;
	handle = open_granted(a);
	assert_int_equal(fake.outdated, 0); /* unchanged */
	write_file("d/a", "longer than it was before");
	assert_int_equal(ask_read(a, handle, 0, 4096).len, strlen("longer than it was before"));
	release(a, handle, false);
	handle = open_granted(a);
	assert_int_equal(fake.outdated, a);
	fake.outdated = 0;
	release(a, handle, false);
	release(a, open_granted(a), false);
	assert_int_equal(fake.outdated, 0); /* told once */
	write_file("d/a", "short");
	assert_int_equal(fake_ask(FUSE_GETATTR, a, &(struct fuse_getattr_in){0},
				  sizeof(struct fuse_getattr_in))
				 .error,
			 0);
	release(a, open_granted(a), false);
	assert_int_equal(fake.outdated, 0); /* the kernel has asked by itself */
}

TEST(pieces_of_a_large_file)
{
	AUTO_FREE char *granted = xasprintf("%s/", tree), *text = xmalloc(300001);
	uint64_t node, handle;
	struct fake_reply r;

	for (int i = 0; i < 300000; i++)
		text[i] = (char)('a' + i % 23);
	text[300000] = '\0';
	write_file("large", text);
	fake_grant(RULE_READ, granted);
	node = need(FUSE_ROOT_ID, "large");
	handle = open_granted(node);
	r = ask_read(node, handle, 131072, 131072);
	assert_int_equal(r.len, 131072);
	assert_memory_equal(r.data, text + 131072, r.len);
	r = ask_read(node, handle, 262144, 131072);
	assert_int_equal(r.len, 300000 - 262144);
	assert_int_equal(ask_read(node, handle, 300000, 4096).len, 0);
	assert_int_equal(truncate(at("large"), 10), 0);
	assert_int_equal(ask_read(node, handle, 0, 4096).len, 10);
	release(node, handle, false);
}

/* ---- directories ----------------------------------------------------------------------------- */

struct seen {
	unsigned char times[MANY];
	uint64_t nodes[MANY];
	size_t n_nodes;
	uint64_t offsets[MANY + 2]; /* of each entry in turn: the offset of the next one */
	size_t n;
};

static void see(struct seen *s, const char *name, size_t len, uint64_t next, uint64_t node)
{
	AUTO_FREE char *text = xstrndup(name, len);

	if (text[0] == 'n')
		s->times[atoi(text + 1)]++;
	if (node)
		s->nodes[s->n_nodes++] = node;
	s->offsets[s->n++] = next;
}

/* Takes the entries of one answer. Returns the offset of the last one. */
static uint64_t see_page(struct seen *s, struct fake_reply r, bool plus)
{
	uint64_t next = 0;

	for (size_t i = 0; i < r.len;) {
		struct fuse_direntplus p = {0};
		size_t head = plus ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;

		memcpy(plus ? (void *)&p : (void *)&p.dirent, r.data + i, head);
		assert_true(i + head + p.dirent.namelen <= r.len);
		next = p.dirent.off;
		see(s, r.data + i + head, p.dirent.namelen, next, p.entry_out.nodeid);
		i += FUSE_DIRENT_ALIGN(head + p.dirent.namelen);
	}
	return next;
}

static void list(struct seen *s, uint64_t dir, uint64_t handle, uint64_t from, uint32_t size,
		 bool plus)
{
	struct fuse_read_in in = {.fh = handle, .offset = from, .size = size};
	struct fake_reply r;

	for (;;) {
		r = fake_ask(plus ? FUSE_READDIRPLUS : FUSE_READDIR, dir, &in, sizeof(in));
		assert_true(r.there);
		assert_int_equal(r.error, 0);
		if (r.len == 0)
			return;
		in.offset = see_page(s, r, plus);
	}
}

static void forget_all(struct seen *s)
{
	AUTO_FREE char *message = NULL;
	struct fuse_batch_forget_in in = {.count = (uint32_t)s->n_nodes};
	size_t len = sizeof(in);

	message = xmalloc(len + s->n_nodes * sizeof(struct fuse_forget_one));
	memcpy(message, &in, len);
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct fuse_forget_one one = {.nodeid = s->nodes[i], .nlookup = 1};

		memcpy(message + len, &one, sizeof(one));
		len += sizeof(one);
	}
	assert_false(fake_ask(FUSE_BATCH_FORGET, 0, message, len).there);
	s->n_nodes = 0;
}

static void each_once(const struct seen *s, size_t from)
{
	for (size_t i = from; i < MANY; i++)
		assert_int_equal(s->times[i], 1);
}

TEST(directories_are_told_in_pages)
{
	static const uint32_t sizes[] = {300, 4096, 131072};
	AUTO_FREE char *granted = xasprintf("%s/", tree);
	uint64_t d = need(FUSE_ROOT_ID, "d"), many, handle;

	assert_int_equal(mkdir(at("d/many"), 0755), 0);
	for (int i = 0; i < MANY; i++) {
		AUTO_FREE char *name = xasprintf("d/many/n%d", i);

		assert_int_equal(symlink("x", at(name)), 0);
	}
	fake_grant(RULE_READ, granted);
	many = need(d, "many");
	handle = handle_of(ask_open(many, true));
	for (size_t i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		AUTO_FREE struct seen *s = xcalloc(1, sizeof(*s));
		bool plus = i % 2;
		size_t known = fake.fs.tree.n;

		list(s, many, handle, 0, sizes[i / 2], plus);
		each_once(s, 0);
		assert_int_equal(s->n, MANY + 2);
		assert_int_equal(s->n_nodes, plus ? MANY : 0);
		assert_int_equal(fake.fs.tree.n, known + s->n_nodes);
		forget_all(s);
		assert_int_equal(fake.fs.tree.n, known);
	}
	release(many, handle, true);
	forget(many, 1);
	forget(d, 1);
	assert_int_equal(fake.fs.tree.n, 0);
}

/* As with seekdir(3): from any entry on the same entries follow. */
TEST(a_listing_goes_on_from_anywhere)
{
	AUTO_FREE char *granted = xasprintf("%s/", tree);
	AUTO_FREE struct seen *all = xcalloc(1, sizeof(*all));
	uint64_t d = need(FUSE_ROOT_ID, "d"), handle;

	for (int i = 0; i < 400; i++) {
		AUTO_FREE char *name = xasprintf("d/n%d", i);

		assert_int_equal(symlink("x", at(name)), 0);
	}
	fake_grant(RULE_READ, granted);
	handle = handle_of(ask_open(d, true));
	list(all, d, handle, 0, 4096, false);
	for (size_t i = 0; i < all->n; i += 37) {
		AUTO_FREE struct seen *rest = xcalloc(1, sizeof(*rest));

		/* Forward, back, and from the position of another listing. */
		list(rest, d, handle, all->offsets[i], i % 2 ? 200 : 4096, false);
		assert_int_equal(rest->n, all->n - i - 1);
		assert_memory_equal(rest->offsets, all->offsets + i + 1,
				    rest->n * sizeof(*rest->offsets));
	}
	release(d, handle, true);
}

int main(void)
{
	return run_all(set_up, tear_down, group_set_up, group_tear_down);
}
