/* acts - performs an agent's changes of names and objects, through the journal. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/journal/op.h"
#include "tests/model/worker.h"

bool place_of(struct inside *in, const char *path, struct at *at, char dir[16])
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	const char *slash = strrchr(path, '/');

	snprintf(dir, 16, "%.*s", slash ? (int)(slash - path) : 0, path);
	*at = (struct at){.dir = dir, .name = slash ? slash + 1 : path};
	at->dirfd =
		(int)syscall(SYS_openat2, journal_folder_fd(journal_of(in, in_second(in, path))),
			     *dir ? dir : ".", &how, sizeof(how));
	return at->dirfd >= 0;
}

/* Writes lines of text; the first line is unique. */
static void fill_text(char *data, size_t size, unsigned turn)
{
	char number[9];

	for (size_t i = 0; i < size; i++)
		data[i] = (char)(i % 16 == 15 ? '\n' : 'a' + turn % 26);
	snprintf(number, sizeof(number), "%04x", turn);
	memcpy(data, number, 4);
}

/* Writes data: holes, ends of pages, more than the log takes. Returns a lower bound of the file's
 * size. */
unsigned fill_data(struct inside *in, int fd, unsigned how)
{
	static const unsigned sizes[] = {0, 5, 60, 100, 4096, 40000, 300, 1};
	static const off_t offsets[] = {0, 0, 0, 0, 0, 70000, 200000, 0};
	char data[40000];
	unsigned n = sizes[how % 8];
	off_t at = offsets[how / 8 % 8];

	fill_text(data, sizeof(data), ++in->turn);
	if (at && !(fcntl(fd, F_GETFL) & O_APPEND)) {
		if (pwrite(fd, data, n, at) < 0)
			abort();
	} else if (n && write(fd, data, n) < 0) {
		abort();
	}
	if (how % 64 == 63 && ftruncate(fd, 150000) < 0)
		abort();
	return n;
}

static void do_write(struct inside *in, struct step *s, const struct at *at, const struct act *a)
{
	static const int flags[] = {O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC,
				    O_RDWR | O_APPEND,	O_WRONLY | O_CREAT | O_EXCL,
				    O_WRONLY | O_CREAT, O_RDWR,
				    O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT | O_TRUNC};
	int how = flags[a->x % 8];
	int fd = op_open(s, at, how | O_NONBLOCK, a->x & 64 ? 0644 : 0600, NULL);
	struct stat st;

	in->sh->reply.r = fd;
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0)
		abort();
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	if ((how & O_ACCMODE) != O_RDONLY)
		fill_data(in, fd, a->y);
	if (a->kind == ACT_HOLD && (how & O_ACCMODE) != O_RDONLY)
		held_take(in, a, fd, a->y & 256);
	else
		close(fd);
}

/* Sets an ACL in the kernel's form: version 2, entries by tag and id: user:6 rw-, user:<owner
 * class> etc. */
static int set_acl(struct step *s, const struct at *at, unsigned how)
{
	static const unsigned char acl[] = {2,	 0,   0,   0,	1,   0,	  6,  0,   255, 255, 255,
					    255, 2,   0,   4,	0,   99,  0,  0,   0,	4,   0,
					    4,	 0,   255, 255, 255, 255, 16, 0,   6,	0,   255,
					    255, 255, 255, 32,	0,   0,	  0,  255, 255, 255, 255};
	const char *name = how & 1 ? "system.posix_acl_default" : "system.posix_acl_access";

	return op_setxattr(s, at, name, acl, sizeof(acl), 0, NULL);
}

int meta_of(struct inside *in, struct step *s, const struct at *at, const struct act *a)
{
	static const mode_t modes[] = {0644, 0600, 0755,  0444,	 0700, 04755,
				       0500, 0,	   02775, 01777, 0111};
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
				    {.tv_sec = a->x * 1000, .tv_nsec = a->x % 1000}};
	const char *name = a->x & 1 ? "user.x" : "user.longer";

	switch (a->y % 8) {
	case 0:
	case 1:
		return op_chmod(s, at, modes[a->x % ARRAY_LEN(modes)], NULL);
	case 2:
		return op_utimens(s, at, times, NULL);
	case 3:
	case 4:
		in->turn++;
		return op_setxattr(s, at, name, &in->turn, sizeof(in->turn), 0, NULL);
	case 5:
		return op_removexattr(s, at, a->x & 2 ? name : "system.posix_acl_access", NULL);
	case 6:
		return set_acl(s, at, a->x);
	default:
		return geteuid() == 0 ? op_chown(s, at, a->x % 2 * 1000, a->x / 2 % 2 * 1000, NULL)
				      : op_chown(s, at, geteuid(), getegid(), NULL);
	}
}

static int do_socket(struct step *s, const struct at *at)
{
	AUTO_CLOSE int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return sock < 0 ? -errno : op_bind(s, sock, at, -1, NULL, NULL);
}

/* ---- whole trees ------------------------------------------------------------------------------
 */

static int remove_tree(struct step *s, const struct at *at, const char *path, int depth)
{
	char below[64];
	struct at child;
	struct dirent *e;
	AUTO_DIR DIR *dir = NULL;
	int r = op_unlink(s, at, NULL);
	int fd;

	if ((r != -EISDIR && r != -EPERM) || depth > 6)
		return r;
	fd = openat(at->dirfd, at->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir)
		abort();
	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    (!*at->dir && str_eq(e->d_name, ".cordon")))
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", path, e->d_name) >= 64)
			return -ENAMETOOLONG;
		child = (struct at){.dirfd = fd, .dir = path, .name = e->d_name};
		remove_tree(s, &child, below, depth + 1);
	}
	return op_rmdir(s, at, NULL);
}

static int make_tree(struct inside *in, struct step *s, const struct at *at, const struct act *a)
{
	AUTO_CLOSE int dir = -1;
	int r = op_mkdir(s, at, a->x & 1 ? 0755 : 02750, NULL);

	if (r < 0)
		return r;
	dir = openat(at->dirfd, at->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (int i = 0; i < 3 && dir >= 0; i++) {
		const char *const names[] = {"a", "b", "c"};
		struct at child = {.dirfd = dir, .dir = a->a, .name = names[i]};
		int fd = op_open(s, &child, O_WRONLY | O_CREAT, 0640, NULL);

		if (fd < 0)
			continue;
		fill_data(in, fd, a->y + (unsigned)i);
		close(fd);
	}
	return 0;
}

/* ---- one act --------------------------------------------------------------------------------- */

static int with_two(struct inside *in, struct step *s, const struct at *at, const struct act *a)
{
	static const unsigned flags[] = {0, 0, 0, 0, RENAME_EXCHANGE, RENAME_NOREPLACE};
	char dir[16];
	struct at to;
	int r;

	if (in_second(in, a->a) != in_second(in, a->b))
		return -EXDEV;
	if (!place_of(in, a->b, &to, dir))
		return -ENOENT;
	r = a->kind == ACT_LINK ? op_link(s, at, &to, NULL)
				: op_rename(s, at, &to, flags[a->x % 6], NULL);
	close(to.dirfd);
	return r;
}

static int with_one(struct inside *in, struct step *s, const struct at *at, const struct act *a)
{
	switch ((int)a->kind) {
	case ACT_MKDIR:
		return op_mkdir(s, at, 0755, NULL);
	case ACT_RMDIR:
		return op_rmdir(s, at, NULL);
	case ACT_UNLINK:
		return op_unlink(s, at, NULL);
	case ACT_SYMLINK:
		return op_symlink(s, a->x & 1 ? "nowhere" : "a", at, NULL);
	case ACT_FIFO:
		return op_mknod(s, at, (a->x & 1 ? S_IFIFO : S_IFCHR) | 0640, 0, NULL);
	case ACT_SOCKET:
		return do_socket(s, at);
	case ACT_TRUNCATE:
		return op_truncate(s, at, a->x % 3 ? a->x % 100 : a->x * 2, NULL);
	case ACT_META:
		return meta_of(in, s, at, a);
	case ACT_RMTREE:
		return remove_tree(s, at, a->a, 0);
	case ACT_MKTREE:
		return make_tree(in, s, at, a);
	default:
		return with_two(in, s, at, a);
	}
}

void act_file(struct inside *in, const struct act *a)
{
	struct step *s = part_of(in, a->who, in_second(in, a->a));
	char dir[16];
	struct at at;

	if (!place_of(in, a->a, &at, dir)) {
		in->sh->reply.r = -ENOENT;
		return;
	}
	if (a->kind == ACT_WRITE || a->kind == ACT_HOLD)
		do_write(in, s, &at, a);
	else
		in->sh->reply.r = with_one(in, s, &at, a);
	close(at.dirfd);
}
