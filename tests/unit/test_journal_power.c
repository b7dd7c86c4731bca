/* test_journal_power - power is lost in a step, a commit, an undo, a redo: what the disk has then.
 */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/journal.h"
#include "core/journal/store/store.h"
#include "tests/support/comb.h"
#include "tests/support/journalfix.h"

/*
 * The folder and its store are on an image that is mounted through a loop device. What the file
 * system has given to the device is in the image's file; what it still has in memory is not. So a
 * copy of the file, taken while the journal's process stands still before a system call, is what a
 * power cut at that moment leaves. Some calls earlier, either everything is brought to the
 * device, or names and metadata alone (an fsync of some other file has the file system write its
 * journal): so the cut comes at all distances from what happened to be written by itself, and bytes
 * that were not synced are missing where names are there.
 */
struct scene {
	const char *type, *made_with, *mount; /* file system, and options */
	void (*work)(struct fix *);	      /* what the step does */
	void (*cut)(struct fix *);	      /* what is cut off; before it: */
	bool done, undone;
	int apart;
};

struct power {
	const struct scene *scene;
	char *top, *base, *image, *cut, *mnt;
	char *folder, *state;
	char *before, *content[2]; /* of the folder: exactly; and names, modes, bytes */
	unsigned random;
};

static int shell(const char *fmt, ...) PRINTF_LIKE(1, 2);
static int shell(const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	return system(b.data);
}

static char *output(const char *command)
{
	FILE *p = popen(command, "r");
	char *text = NULL;
	size_t len = 0;

	assert_non_null(p);
	assert_int_equal(io_read_all(fileno(p), 1 << 20, &text, &len), 0);
	pclose(p);
	return text;
}

static char *content(const struct power *p)
{
	AUTO_FREE char *command =
		xasprintf("cd '%s' && find . -printf '%%P %%y %%m %%l\\n' | sort && find . -type f "
			  "-print0 | sort -z | xargs -0 sha256sum",
			  p->folder);

	return output(command);
}

static void mount_image(struct power *p, const char *image)
{
	if (shell("mount -o loop%s '%s' '%s'", p->scene->mount, image, p->mnt) != 0)
		fail_msg("mount %s", image);
}

static void unmount(struct power *p)
{
	assert_int_equal(shell("umount '%s'", p->mnt), 0);
}

static struct fix *fix_at(struct power *p)
{
	struct fix *f = xcalloc(1, sizeof(*f));

	f->top = xstrdup(p->mnt);
	f->folder = xstrdup(p->folder);
	f->state = xstrdup(p->state);
	f->options.durable = !getenv("CORDON_TEST_NOT_DURABLE"); /* must fail then */
	return f;
}

static void fix_drop(struct fix *f)
{
	fix_drop_dirs(f);
	journal_close(f->j);
	free(f->top);
	free(f->folder);
	free(f->state);
	free(f);
}

static void prepare(struct fix *f)
{
	AUTO_FREE char *text = xmalloc(60001);

	memset(text, 'p', 60000);
	text[60000] = '\0';
	begin(f, "prepare");
	md(f, "d");
	md(f, "d/e");
	put(f, "a", "alpha");
	put(f, "b", "beta");
	put(f, "c", "gamma");
	put(f, "big", text);
	put(f, "linked", "delta");
	ln(f, "linked", "d/link");
	put(f, "d/x", "x-ray");
	put(f, "d/e/y", "yankee");
	md(f, "e");
	for (char name[] = "e/1"; name[2] < '7'; name[2]++)
		put(f, name, "one of six");
	assert_true(commit(f) != 0);
}

static void work(struct fix *f)
{
	begin(f, "work");
	put(f, "new", "new");
	add(f, "a", "more");
	add(f, "big", "more");
	add(f, "linked", "more");
	rm(f, "c");
	put(f, "c", "another c");
	mv(f, "a", "a2", 0);
	put(f, "tmp", "replacement");
	mv(f, "tmp", "b", 0);
	rm(f, "d/x");
	rm(f, "d/e/y");
	rd(f, "d/e");
	md(f, "n");
	put(f, "n/in", "in");
	md(f, "n/deep");
	put(f, "n/deep/in", "in");
	mv(f, "d", "n/d", 0);
	mv(f, "b", "c", RENAME_EXCHANGE);
	mode(f, "c", 0600);
	sym(f, "target", "s");
	put(f, "a", "another a");
}

/* Names come to mean other objects again and again. */
static void work_again(struct fix *f)
{
	begin(f, "work");
	put(f, "tmp", "replacement");
	put(f, "new", "new");
	rm(f, "c");
	mode(f, "big", 0600);
	mv(f, "a", "a2", 0);
	mv(f, "tmp", "b", 0);
	rm(f, "d/x");
	md(f, "n");
	ln(f, "linked", "d/more");
	rm(f, "e/2");
	mv(f, "a2", "a", 0);
	put(f, "a2", "in its place");
	rm(f, "a");
	put(f, "a", "anew");
	mv(f, "e/5", "e/3", 0);
	rm(f, "e/3");
	md(f, "e/5");
	mv(f, "a2", "n/a", 0);
	add(f, "new", "more");
	put(f, "e/7", "seven");
	rm(f, "d/link");
	mv(f, "d", "e", RENAME_EXCHANGE);
	put(f, "d/8", "eight");
	rm(f, "e/more");
	mv(f, "n", "e/n", 0);
	mv(f, "e/n/a", "a9", 0);
	mode(f, "linked", 0600);
}

static const struct scene *playing;

static void child_commit(struct fix *f)
{
	fix_open(f);
	playing->work(f);
	commit(f);
}

static void child_undo(struct fix *f)
{
	fix_open(f);
	undo(f, 1, 0);
}

static void child_redo(struct fix *f)
{
	fix_open(f);
	redo(f, 0);
}

static void bring(struct power *p)
{
	AUTO_FREE char *name = xasprintf("%s/pulse", p->mnt);
	AUTO_CLOSE int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(p->random >> 8 & 3 ? fsync(fd) : syncfs(fd), 0);
}

/* Images are mostly holes. */
static bool same_data(const char *a, const char *b)
{
	static char one[1 << 16], two[1 << 16];
	AUTO_CLOSE int x = open(a, O_RDONLY | O_CLOEXEC), y = open(b, O_RDONLY | O_CLOEXEC);
	off_t at = 0, to, other;
	bool same = true;

	while (same && (at = lseek(x, at, SEEK_DATA)) >= 0) {
		to = lseek(x, at, SEEK_HOLE);
		for (; same && at < to; at += (off_t)sizeof(one)) {
			ssize_t n = pread(x, one, sizeof(one), at);

			same = n > 0 && pread(y, two, sizeof(two), at) == n &&
			       memcmp(one, two, (size_t)n) == 0;
		}
	}
	for (at = 0; same && (at = lseek(y, at, SEEK_DATA)) >= 0; at = to) {
		to = lseek(y, at, SEEK_HOLE);
		other = lseek(x, at, SEEK_DATA);
		for (off_t i = at; same && i < to && (other < 0 || other > at);) {
			ssize_t n = pread(y, two, sizeof(two), i); /* zeros are no difference */

			memset(one, 0, sizeof(one));
			same = n > 0 && memcmp(one, two, (size_t)n) == 0;
			i += n;
		}
	}
	return same;
}

/* Stop a child before its n-th system call; bring all to the disk `ahead` calls before that. */
static bool cut_at(struct power *p, void (*fn)(struct fix *), int n, int ahead)
{
	struct fix *f = fix_at(p);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		raise(SIGSTOP);
		fn(f);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	for (int i = 0; i < 2 * n && WIFSTOPPED(status); i++) {
		if (i == 2 * (n - ahead))
			bring(p);
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		waitpid(pid, &status, 0);
	}
	/* The kernel may write by itself meanwhile. What is the same afterwards was no mixture. */
	for (int i = 0; shell("cp --sparse=always '%s' '%s'", p->image, p->cut) != 0 ||
			!same_data(p->image, p->cut);
	     i++)
		assert_true(i < 100);
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fix_drop(f);
		return true;
	}
	fix_drop(f);
	return false;
}

/* The machine starts again: it has another number. */
static void reboot(struct power *p)
{
	AUTO_FREE char *path = NULL, *state = NULL;
	const struct journal_spec spec = {.folder = p->folder, .state_dir = p->state};
	struct err err = {0};
	uint64_t other = 1;
	int fd;

	assert_int_equal(journal_store_path(&path, &spec, &err), 0);
	state = xasprintf("%s/state", path);
	fd = open(state, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return; /* not even that */
	assert_int_equal(pwrite(fd, &other, 8, offsetof(struct state, boot)), 8);
	close(fd);
}

static void check(struct power *p, int n, int ahead)
{
	struct fix *f = fix_at(p);
	AUTO_FREE char *now = NULL, *is = NULL;
	bool old;

	reboot(p);
	fix_open(f);
	now = snap(f);
	is = content(p);
	old = str_eq(now, p->before);
	if (!old && !str_eq(is, p->content[1])) {
		tree_same(p->before, now);
		fail_msg("cut at system call %d, synced %d before: neither old nor new", n, ahead);
	}
	assert_sound(f);
	if (old && redo(f, 0) == 0) {
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, p->before);
	} else if (!old) {
		if (undo(f, 1, 0) < 0)
			fail_msg("cut at %d, synced %d before: %s", n, ahead, f->err.text);
		assert_tree(f, p->before);
		assert_int_equal(redo(f, 0), 0);
		AUTO_FREE char *again = content(p);

		assert_string_equal(again, p->content[1]);
	}
	assert_sound(f);
	fix_drop(f);
}

/* New files: a loop device that is not quite gone yet would be used again, with what it has in its
 * cache. */
static void new_files(struct power *p)
{
	static int turn;

	unlink(p->image);
	unlink(p->cut);
	free(p->image);
	free(p->cut);
	p->image = xasprintf("%s/image-%d", p->top, ++turn);
	p->cut = xasprintf("%s/cut-%d", p->top, turn);
	assert_int_equal(shell("cp --sparse=always '%s' '%s'", p->base, p->image), 0);
}

static void each_cut(struct power *p)
{
	bool more = true;

	for (int n = 2; more; n += comb(p->scene->apart)) {
		int ahead;

		p->random = p->random * 1103515245u + 12345u;
		ahead = (int)((p->random >> 16) % 24);
		if (ahead > 20) /* or not at all */
			ahead = n + 1;
		new_files(p);
		mount_image(p, p->image);
		more = cut_at(p, p->scene->cut, n, ahead);
		unmount(p);
		mount_image(p, p->cut);
		check(p, n, ahead);
		unmount(p);
	}
}

static void run_in(struct power *p, void (*fn)(struct fix *))
{
	struct fix *f = fix_at(p);

	fn(f);
	assert_int_equal(shell("sync -f '%s'", p->mnt), 0);
	fix_drop(f);
}

static void start(struct fix *f)
{
	if (mkdir(f->folder, 0755) < 0)
		abort();
	fix_open(f);
	prepare(f);
}

/* What ran becomes the base of what is cut. */
static void run_in_base(struct power *p, void (*fn)(struct fix *))
{
	new_files(p);
	mount_image(p, p->image);
	run_in(p, fn);
	if (!p->content[1])
		p->content[1] = content(p);
	unmount(p);
}

static void base_is_image(struct power *p)
{
	assert_int_equal(shell("cp --sparse=always '%s' '%s'", p->image, p->base), 0);
}

static int setup(void **state)
{
	struct power *p = xcalloc(1, sizeof(*p));
	const char *tmp = getenv("TMPDIR");

	p->scene = playing = *state;
	*state = p;
	/* In memory, where that is possible: unmounting waits for the disk below. */
	if (access("/dev/shm", W_OK) == 0)
		tmp = "/dev/shm";
	p->top = xasprintf("%s/cordon-power-XXXXXX", tmp ? tmp : "/tmp");
	if (geteuid() != 0 || !mkdtemp(p->top))
		return -1;
	p->base = xasprintf("%s/base", p->top);
	p->image = xasprintf("%s/image", p->top);
	p->cut = xasprintf("%s/cut", p->top);
	p->mnt = xasprintf("%s/mnt", p->top);
	p->folder = xasprintf("%s/work", p->mnt);
	p->state = xasprintf("%s/state", p->mnt);
	p->random = 42;
	mkdir(p->mnt, 0755);
	return 0;
}

/* False: there is no such file system here. */
static bool set_scene(struct power *p)
{
	const struct scene *s = p->scene;

	if (shell("truncate -s 320m '%s' && %s '%s' >/dev/null 2>&1 && mount -o loop%s '%s' "
		  "'%s' 2>/dev/null",
		  p->image, s->made_with, p->image, s->mount, p->image, p->mnt) != 0)
		return false;
	run_in(p, start);
	p->before = tree_take(p->folder, ".cordon");
	p->content[0] = content(p);
	unmount(p);
	base_is_image(p);
	run_in_base(p, child_commit);
	if (s->done)
		base_is_image(p);
	if (s->undone) {
		run_in_base(p, child_undo);
		base_is_image(p);
	}
	return true;
}

static int teardown(void **state)
{
	struct power *p = *state;

	if (!p)
		return 0;
	shell("mountpoint -q '%s' && umount -l '%s'", p->mnt, p->mnt);
	shell("rm -rf '%s'", p->top);
	free(p->top);
	free(p->base);
	free(p->image);
	free(p->cut);
	free(p->mnt);
	free(p->folder);
	free(p->state);
	free(p->before);
	free(p->content[0]);
	free(p->content[1]);
	free(p);
	return 0;
}

static void whatever_the_disk_has(void **state)
{
	struct power *p = *state;

	if (!set_scene(p)) {
		print_message("# %s: no such file system here\n", p->scene->type);
		skip();
	}
	each_cut(p);
}

/* Whoever copies our mounts just then keeps an image mounted for a moment longer. */
#define EXT4  "ext4", "mkfs.ext4 -q -F", ""
#define XFS   "xfs", "mkfs.xfs -q -f", ",nouuid"
#define BTRFS "btrfs", "mkfs.btrfs -q -f", ""

int main(void)
{
	static struct scene scenes[] = {
		{EXT4, work, child_commit, false, false, 61},
		{EXT4, work_again, child_commit, false, false, 47},
		{EXT4, work, child_undo, true, false, 61},
		{EXT4, work, child_redo, true, true, 73},
		{XFS, work, child_commit, false, false, 211},
		{XFS, work_again, child_commit, false, false, 211},
		{XFS, work, child_undo, true, false, 307},
		{BTRFS, work, child_commit, false, false, 211},
		{BTRFS, work_again, child_commit, false, false, 211},
		{BTRFS, work, child_undo, true, false, 307},
	};
	static const char *const names[] = {
		"ext4: in a step and its commit",
		"ext4: in calls that share a sync",
		"ext4: in an undo",
		"ext4: in a redo",
		"xfs: in a step and its commit",
		"xfs: in calls that share a sync",
		"xfs: in an undo",
		"btrfs: in a step and its commit",
		"btrfs: in calls that share a sync",
		"btrfs: in an undo",
	};
	struct CMUnitTest tests[ARRAY_LEN(scenes)];

	if (geteuid() != 0 || system("command -v mkfs.ext4 losetup >/dev/null") != 0) {
		puts("1..0 # SKIP mounting an image wants root and mkfs.ext4");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(scenes); i++)
		tests[i] = (struct CMUnitTest){names[i], whatever_the_disk_has, setup, teardown,
					       &scenes[i]};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (getenv("CORDON_TEST_ONLY"))
		cmocka_set_test_filter(getenv("CORDON_TEST_ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
