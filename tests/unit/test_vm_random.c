/* test_vm_random - random calls through the guest's file server, compared with native ones. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

#include <linux/fs.h>

/* CORDON_TEST_SEED names the first seed. Each call is made in the share and, by its path, in a
 * plain directory: errors, read data, and the trees afterwards must be equal. Undo restores the
 * initial tree, redo the final one. */
#define SEEDS 6
#define CALLS 300

static const char *const names[] = {"a", "b", "c", "d/e", "d/f", "d", "d/g/h", "d/g"};

struct pair {
	struct vm *v;
	char *plain;
	int dir;
	uint64_t seed;
};

static unsigned roll(struct pair *p, unsigned n)
{
	p->seed = p->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(p->seed >> 33) % n;
}

static const char *pick(struct pair *p)
{
	return names[roll(p, ARRAY_LEN(names))];
}

/* Both results. */
struct result {
	int guest, native;
};

static int native(int r)
{
	return r < 0 ? -errno : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void drop_entry(struct vm *v, int r)
{
	struct fuse_entry_out e;

	if (r < 0)
		return;
	memcpy(&e, v->answer, sizeof(e));
	vm_forget(v, e.nodeid);
}

static struct result call_make(struct pair *p)
{
	const uint32_t modes[] = {0755, 0700, 01777, 0644}, mode = modes[roll(p, 4)];
	const struct fuse_mkdir_in dir = {.mode = mode, .umask = 022};
	const struct fuse_mknod_in node = {.mode = S_IFIFO | mode, .umask = 022};
	const char *path = pick(p);
	struct result r;

	switch (roll(p, 3)) {
	case 0:
		r.guest = vm_at(p->v, FUSE_MKDIR, path, VM_STRUCT(dir));
		drop_entry(p->v, r.guest);
		r.native = native(mkdirat(p->dir, path, mode & ~022u));
		break;
	case 1:
		r.guest = vm_at(p->v, FUSE_MKNOD, path, VM_STRUCT(node));
		drop_entry(p->v, r.guest);
		r.native = native(mknodat(p->dir, path, S_IFIFO | (mode & ~022u), 0));
		break;
	default: {
		const char *name;
		uint64_t dir_node = vm_parent(p->v, path, &name);

		r.guest = dir_node ? vm_ask(p->v, FUSE_SYMLINK, dir_node, VM_NAME(name),
					    VM_NAME("target"), VM_NONE)
				   : p->v->error;
		drop_entry(p->v, r.guest);
		if (dir_node)
			vm_forget(p->v, dir_node);
		r.native = native(symlinkat("target", p->dir, path));
	}
	}
	return r;
}

static struct result call_remove(struct pair *p)
{
	const char *path = pick(p);

	if (roll(p, 2))
		return (struct result){vm_at(p->v, FUSE_UNLINK, path, VM_NONE),
				       native(unlinkat(p->dir, path, 0))};
	return (struct result){vm_at(p->v, FUSE_RMDIR, path, VM_NONE),
			       native(unlinkat(p->dir, path, AT_REMOVEDIR))};
}

static struct result call_rename(struct pair *p)
{
	static const unsigned flags[] = {0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE};
	const char *from = pick(p), *to = pick(p), *from_name, *to_name;
	struct fuse_rename2_in in = {.flags = flags[roll(p, ARRAY_LEN(flags))]};
	uint64_t a = vm_parent(p->v, from, &from_name), b;
	struct result r = {.guest = p->v->error};

	if (a) {
		b = in.newdir = vm_parent(p->v, to, &to_name);
		r.guest = b ? vm_ask(p->v, FUSE_RENAME2, a, VM_STRUCT(in), VM_NAME(from_name),
				     VM_NAME(to_name))
			    : p->v->error;
		if (b)
			vm_forget(p->v, b);
		vm_forget(p->v, a);
	}
	r.native = native(renameat2(p->dir, from, p->dir, to, in.flags));
	return r;
}

static struct result call_link(struct pair *p)
{
	const char *from = pick(p), *to = pick(p);
	struct fuse_link_in in = {0};
	struct result r;

	in.oldnodeid = vm_walk(p->v, from);
	r.guest = in.oldnodeid ? vm_at(p->v, FUSE_LINK, to, VM_STRUCT(in)) : p->v->error;
	drop_entry(p->v, r.guest);
	if (in.oldnodeid)
		vm_forget(p->v, in.oldnodeid);
	r.native = native(linkat(p->dir, from, p->dir, to, 0));
	return r;
}

/* Creates or opens a file, and writes to it. */
static struct result call_write(struct pair *p)
{
	static const int flags[] = {O_CREAT, O_CREAT | O_TRUNC, O_CREAT | O_EXCL,
				    O_CREAT | O_APPEND};
	static const char text[] = "some text that is longer than the last one";
	const int f = flags[roll(p, ARRAY_LEN(flags))];
	const unsigned at = roll(p, 5000), len = 1 + roll(p, sizeof(text) - 2);
	const char *path = pick(p), *name;
	AUTO_FREE char *part = xstrndup(text, len);
	uint64_t dir = vm_parent(p->v, path, &name), node = 0, fh = 0;
	struct result r = {.guest = p->v->error};
	int fd;

	if (dir) {
		fh = vm_create(p->v, dir, name, O_RDWR | f, 0666, &node);
		r.guest = fh ? vm_write(p->v, node, fh, at, part) : p->v->error;
		vm_forget(p->v, dir);
	}
	fd = openat(p->dir, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | f, 0644);
	r.native = native(fd);
	/* A pipe is opened by the guest's own kernel, never here. */
	if (r.guest == -ENXIO)
		r.native = -ENXIO;
	else if (fd >= 0 && pwrite(fd, part, len, at) < 0)
		r.native = -errno;
	util_close_fd(&fd);
	if (fh) {
		vm_release(p->v, node, fh);
		vm_forget(p->v, node);
	}
	return r;
}

static struct result call_read(struct pair *p)
{
	const char *path = pick(p);
	const unsigned at = roll(p, 5000);
	uint64_t node = vm_walk(p->v, path), fh;
	struct result r = {.guest = p->v->error};
	char own[512];
	struct stat st;
	int fd = openat(p->dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	r.native = native(fd);
	if (node && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		ssize_t n = pread(fd, own, sizeof(own), at);

		fh = vm_open(p->v, node, O_RDONLY);
		r.guest = fh ? vm_read(p->v, node, fh, at, sizeof(own)) : p->v->error;
		assert_int_equal(p->v->len, n);
		assert_memory_equal(p->v->answer, own, (size_t)n);
		vm_release(p->v, node, fh);
	} else if (node) { /* a directory, a link, a pipe: the guest's kernel returns the error */
		r.guest = r.native;
	}
	util_close_fd(&fd);
	if (node)
		vm_forget(p->v, node);
	return r;
}

static struct result call_attr(struct pair *p)
{
	const unsigned what = roll(p, 3), mode = roll(p, 01000) | 0600, size = roll(p, 9000);
	struct fuse_setattr_in in = {.mode = mode, .size = size, .mtime = 1000 + size};
	const char *path = pick(p);
	uint64_t node = vm_walk(p->v, path);
	struct result r = {.guest = p->v->error};
	struct stat st;

	if (fstatat(p->dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		r.native = -errno;
	} else if (S_ISLNK(st.st_mode) || (what == 1 && !S_ISREG(st.st_mode))) {
		if (node) /* the guest's kernel never requests that */
			vm_forget(p->v, node);
		return (struct result){0};
	} else if (what == 0) {
		if (S_ISDIR(st.st_mode))
			in.mode |= 0700;
		r.native = native(fchmodat(p->dir, path, in.mode, 0));
	} else if (what == 1) {
		int fd = openat(p->dir, path, O_WRONLY | O_CLOEXEC);

		r.native = native(ftruncate(fd, size));
		util_close_fd(&fd);
	} else {
		const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000 + size}};

		r.native = native(utimensat(p->dir, path, times, AT_SYMLINK_NOFOLLOW));
	}
	in.valid = what == 0 ? FATTR_MODE : what == 1 ? FATTR_SIZE : FATTR_MTIME;
	if (node) {
		r.guest = vm_ask(p->v, FUSE_SETATTR, node, VM_STRUCT(in), VM_NONE, VM_NONE);
		vm_forget(p->v, node);
	}
	return r;
}

static struct result call_space(struct pair *p)
{
	const int modes[] = {0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE};
	struct fuse_fallocate_in in = {.offset = roll(p, 8000),
				       .length = 1 + roll(p, 8000),
				       .mode = (uint32_t)modes[roll(p, 3)]};
	const char *path = pick(p);
	uint64_t node = vm_walk(p->v, path);
	int fd = openat(p->dir, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct result r = {.guest = native(fd), .native = native(fd)};
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		r.native = native(fallocate(fd, (int)in.mode, (off_t)in.offset, (off_t)in.length));
		in.fh = vm_open(p->v, node, O_WRONLY);
		r.guest = vm_ask(p->v, FUSE_FALLOCATE, node, VM_STRUCT(in), VM_NONE, VM_NONE);
		vm_release(p->v, node, in.fh);
	}
	util_close_fd(&fd);
	if (node)
		vm_forget(p->v, node);
	return r;
}

/* Lists the names in a directory, as one sum. */
static struct result call_list(struct pair *p)
{
	const struct fuse_open_in open_in = {0};
	const char *path = roll(p, 2) ? "" : "d";
	uint64_t node = vm_walk(p->v, path), sum = 0, own = 0;
	AUTO_DIR DIR *dir = NULL;
	struct fuse_read_in in = {.size = 4096};
	const struct dirent *e;
	int fd =
		openat(p->dir, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || !node) {
		if (node)
			vm_forget(p->v, node);
		util_close_fd(&fd);
		return (struct result){0};
	}
	assert_int_equal(vm_ask(p->v, FUSE_OPENDIR, node, VM_STRUCT(open_in), VM_NONE, VM_NONE), 0);
	memcpy(&in.fh, p->v->answer, sizeof(in.fh));
	do {
		assert_int_equal(vm_ask(p->v, FUSE_READDIR, node, VM_STRUCT(in), VM_NONE, VM_NONE),
				 0);
		for (size_t at = 0; at < p->v->len;) {
			struct fuse_dirent d;

			memcpy(&d, p->v->answer + at, FUSE_NAME_OFFSET);
			if (!(d.namelen == 7 &&
			      memcmp(p->v->answer + at + FUSE_NAME_OFFSET, ".cordon", 7) == 0))
				sum += XXH3_64bits(p->v->answer + at + FUSE_NAME_OFFSET, d.namelen);
			in.offset = d.off;
			at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + d.namelen);
		}
	} while (p->v->len);
	assert_int_equal(vm_ask(p->v, FUSE_RELEASEDIR, node,
				VM_STRUCT(((struct fuse_release_in){.fh = in.fh})), VM_NONE,
				VM_NONE),
			 0);
	vm_forget(p->v, node);
	dir = fdopendir(fd);
	while ((e = readdir(dir)))
		own += XXH3_64bits(e->d_name, strlen(e->d_name));
	assert_int_equal(sum, own);
	return (struct result){0};
}

/* ---- all calls ------------------------------------------------------------------------------- */

static struct result (*const calls[])(struct pair *p) = {
	call_make, call_remove, call_rename, call_link, call_write, call_write,
	call_read, call_attr,	call_space,  call_list, call_write,
};

/* Dumps everything except times and inodes. */
static void dump(struct buf *out, const char *top)
{
	char *const roots[] = {(char *)(uintptr_t)top, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, tree_order);
	const FTSENT *e;

	while ((e = fts_read(fts))) {
		if (e->fts_info == FTS_DP || e->fts_level == 0)
			continue;
		if (str_eq(e->fts_name, ".cordon")) {
			fts_set(fts, (FTSENT *)(uintptr_t)e, FTS_SKIP);
			continue;
		}
		buf_fmt(out, "%s %o %d", e->fts_path + strlen(top), e->fts_statp->st_mode,
			S_ISDIR(e->fts_statp->st_mode) ? 0 : (int)e->fts_statp->st_nlink);
		if (S_ISREG(e->fts_statp->st_mode))
			buf_fmt(out, " %lld %llx", (long long)e->fts_statp->st_size,
				(unsigned long long)tree_hash(e->fts_path));
		buf_str(out, "\n");
	}
	fts_close(fts);
}

static void assert_same_trees(struct pair *p, uint64_t seed)
{
	AUTO_BUF struct buf guest = BUF_INIT, plain = BUF_INIT;

	dump(&guest, p->v->folder);
	dump(&plain, p->plain);
	if (!str_eq(guest.data, plain.data))
		fail_msg("seed %llu: the guest's\n%s\nnatively\n%s", (unsigned long long)seed,
			 guest.data, plain.data);
}

static void undo_redo(struct vm *v, const char *before, const char *after)
{
	struct err err = {0};
	AUTO_FREE char *back = NULL, *again = NULL;

	vm_end_session(v);
	if (tree_same(before, after))
		return;
	if (journal_undo(v->k.journal, UNDO_BACK, 1, 0, NULL, &err) < 0)
		fail_msg("undo: %s", err.text);
	back = tree_take(v->folder, ".cordon");
	assert_true(tree_same(before, back));
	if (journal_undo(v->k.journal, UNDO_REDO, 1, 0, NULL, &err) < 0)
		fail_msg("redo: %s", err.text);
	again = tree_take(v->folder, ".cordon");
	assert_true(tree_same(after, again));
}

/* A dangling link as a directory: the guest's kernel follows it before it asks. */
static bool is_same(struct result r)
{
	return r.guest == r.native || (r.guest == -ENOTDIR && r.native == -ENOENT);
}

static void run(uint64_t seed)
{
	struct pair p = {.v = vm_new(true), .seed = seed};
	AUTO_FREE char *before = NULL, *after = NULL;

	umask(0);
	p.plain = path_join(p.v->root, "plain");
	assert_int_equal(mkdir(p.plain, 0755), 0);
	p.dir = open(p.plain, O_PATH | O_DIRECTORY | O_CLOEXEC);
	vm_init(p.v);
	before = tree_take(p.v->folder, ".cordon");
	for (int i = 0; i < CALLS; i++) {
		unsigned which = roll(&p, ARRAY_LEN(calls));
		struct result r = calls[which](&p);

		if (!is_same(r))
			fail_msg("seed %llu, call %d (%u): %d in the guest, %d natively",
				 (unsigned long long)seed, i, which, r.guest, r.native);
		assert_int_equal(p.v->tree.nodes.slots.used, 1);
		assert_int_equal(p.v->tree.handles.slots.used, 0);
		if (i % 50 == 0)
			assert_same_trees(&p, seed);
	}
	assert_same_trees(&p, seed);
	after = tree_take(p.v->folder, ".cordon");
	undo_redo(p.v, before, after);
	close(p.dir);
	free(p.plain);
	vm_free(p.v);
}

TEST(random_calls_do_what_they_do_natively)
{
	const char *first = getenv("CORDON_TEST_SEED");
	uint64_t seed = first ? strtoull(first, NULL, 10) : 1;

	for (uint64_t i = 0; i < SEEDS; i++)
		run(seed + i);
}

TESTS(NULL, NULL)
