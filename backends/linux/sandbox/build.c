/* build - process B: builds the file tree of the namespaces and stays as their reaper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/gate/mount_calls.h"
#include "backends/linux/limits/limits.h"
#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"

/* ---- single operations; the current directory is the sandbox's root -------------------------- */

static const char *inside(const char *path)
{
	return path[1] ? path + 1 : ".";
}

/* Makes the parents of path, or with `all` also path, like mkdir -p. */
static int make_dirs(const char *path, bool all)
{
	char part[4096];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && !(all && i == len))
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(inside(part), 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int make_target(const struct plan_op *op)
{
	int fd, r;

	if (op->dir ? mkdir(inside(op->path), 0755) == 0
		    : mknod(inside(op->path), S_IFREG | 0444, 0) == 0)
		return 0;
	if (errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return -errno;
	r = make_dirs(op->path, op->dir);
	if (r < 0 || op->dir)
		return r;
	fd = open(inside(op->path), O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int build_own(const struct plan_op *op)
{
	/* An ordinary user's namespace has one id, which owns every new file. */
	if (geteuid() == 0 && lchown(inside(op->path), op->uid, op->gid) < 0 &&
	    errno != EINVAL) /* without that id in the namespace root stays the owner */
		return -errno;
	if (op->what == PLAN_LINK)
		return 0;
	return chmod(inside(op->path), op->mode) < 0 ? -errno : 0;
}

int build_seal(const char *path, bool below)
{
	struct mount_attrs attr = {.set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV};

	return syscall(SYS_mount_setattr, AT_FDCWD, inside(path), below ? SETATTR_RECURSIVE : 0,
		       &attr, sizeof(attr)) < 0
		       ? -errno
		       : 0;
}

int build_unseal(const char *path)
{
	struct mount_attrs attr = {.clear = ATTR_RDONLY};

	return syscall(SYS_mount_setattr, AT_FDCWD, inside(path), 0, &attr, sizeof(attr)) < 0
		       ? -errno
		       : 0;
}

static int bind_op(const struct plan_op *op)
{
	const char *source = op->source ? op->source : inside(op->path);
	int r;

	if (op->make) {
		r = make_target(op);
		if (r < 0)
			return r;
	}
	if (mount(source, inside(op->path), NULL, MS_BIND | MS_REC, NULL) < 0)
		return -errno;
	return op->what == PLAN_BIND_RO ? build_seal(op->path, true) : 0;
}

static int bind_rw(const char *source, const char *path)
{
	struct mount_attrs attr = {.set = ATTR_NOSUID | ATTR_NODEV, .clear = ATTR_RDONLY};

	if (mount(source, inside(path), NULL, MS_BIND, NULL) < 0 ||
	    syscall(SYS_mount_setattr, AT_FDCWD, inside(path), 0, &attr, sizeof(attr)) < 0)
		return -errno;
	return 0;
}

static int bind_writable(const struct plan_op *op)
{
	int r = make_target(op);

	return r < 0 ? r : bind_rw(op->source, op->path);
}

static int cover_tmpfs(const struct plan_op *op)
{
	if (mount("tmpfs", inside(op->path), "tmpfs", MS_NOSUID | MS_NODEV, op->source) < 0)
		return -errno;
	/* A private tmpfs has its mode in the options. One over a directory of the host gets its
	 * mode. */
	return strstr(op->source, "size=1m") ? build_own(op) : 0;
}

/* Mounts devpts. Without a group for terminals in the namespace, terminals get the user's group. */
static int devpts(const struct plan_op *op)
{
	const unsigned long flags = MS_NOSUID | MS_NOEXEC;
	const char *group = strstr(op->source, ",gid=");
	AUTO_FREE char *without = xstrndup(op->source, group ? (size_t)(group - op->source) : 0);

	if (mount("devpts", inside(op->path), "devpts", flags, op->source) == 0)
		return 0;
	if (errno != EINVAL || !group)
		return -errno;
	return mount("devpts", inside(op->path), "devpts", flags, without) < 0 ? -errno : 0;
}

static int device(const struct plan_op *op)
{
	int r = make_target(op);

	if (r < 0)
		return r;
	return mount(op->source, inside(op->path), NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

static int mkdir_op(const struct plan_op *op)
{
	if (mkdir(inside(op->path), op->mode) < 0 && errno != EEXIST)
		return -errno;
	/* The umask of 0 has given 0755; directories that cover one of the host may differ. */
	if (op->mode == 0755 && op->uid == geteuid() && op->gid == getegid())
		return 0;
	return build_own(op);
}

static int link_op(const struct plan_op *op)
{
	if (symlink(op->source, inside(op->path)) < 0)
		return errno == EEXIST ? 0 : -errno;
	if (op->uid == 0 && op->gid == 0)
		return 0;
	return build_own(op);
}

/* Removed after the last cover was made (build_ops_done()). */
#define BLANK_FILE "run/.blank-file"
#define BLANK_DIR  "run/.blank-dir"

static int blank(const struct plan_op *op)
{
	const char *source = op->dir ? BLANK_DIR : BLANK_FILE;
	int r;

	if ((op->dir ? mkdir(source, 0) : mknod(source, S_IFREG, 0)) < 0 && errno != EEXIST)
		return -errno;
	if (mount(source, inside(op->path), NULL, MS_BIND, NULL) < 0)
		return -errno;
	r = build_seal(op->path, false);
	/* The path is closed already. The stand-in reports attempts to open it. */
	if (r == 0 && op->source)
		mount(op->source, inside(op->path), NULL, MS_BIND, NULL);
	return r;
}

void build_ops_done(void)
{
	umount2(&STAND_INS[1], MNT_DETACH | UMOUNT_NOFOLLOW);
	rmdir(&STAND_INS[1]);
	unlink(BLANK_FILE);
	rmdir(BLANK_DIR);
}

static int overlay(const struct plan_op *op)
{
	int r = 0;

	if (mount("overlay", inside(op->path), "overlay", MS_NOSUID | MS_NODEV, op->source) < 0)
		r = -errno;
	return r < 0 && op->instead ? bind_rw(op->instead, op->path) : r;
}

static int gate(const struct build *b, const struct plan_op *op)
{
	struct gates *gates = b->gates;
	struct note note;
	int fd;

	if (!gates)
		return -EINVAL;
	if (!gates->here && (child_message_recv(b->sock, &note, gates->fds, GATES_MAX) <= 0 ||
			     note.kind != NOTE_GATES))
		return -EPIPE;
	gates->here = true;
	fd = gates->next < GATES_MAX ? gates->fds[gates->next++] : -1;
	if (fd < 0)
		return -EBADF;
	return syscall(SYS_move_mount, fd, "", AT_FDCWD, inside(op->path), MOVE_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

static int perform(const struct build *b, const struct plan_op *op)
{
	switch (op->what) {
	case PLAN_DIR:
		return mkdir_op(op);
	case PLAN_LINK:
		return link_op(op);
	case PLAN_BIND_RW:
		return bind_writable(op);
	case PLAN_BIND:
	case PLAN_BIND_RO:
		return bind_op(op);
	case PLAN_TMPFS:
		return cover_tmpfs(op);
	case PLAN_SEAL:
		return build_seal(op->path, true);
	case PLAN_DEVICE:
		return device(op);
	case PLAN_PROC:
		return mount("proc", inside(op->path), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			     op->source) < 0
			       ? -errno
			       : 0;
	case PLAN_DEVPTS:
		return devpts(op);
	case PLAN_OVERLAY:
		return overlay(op);
	case PLAN_BLANK:
		return blank(op);
	case PLAN_MKDIRS:
		return make_dirs(op->path, true);
	case PLAN_GATE:
		return gate(b, op);
	}
	return -EINVAL;
}

/* The compiler names a missing one. */
static const char *op_words(enum plan_what what)
{
	switch (what) {
	case PLAN_DIR:
		return "make directory";
	case PLAN_LINK:
		return "make link";
	case PLAN_BIND:
		return "bind";
	case PLAN_TMPFS:
		return "mount a tmpfs on";
	case PLAN_SEAL:
		return "make read-only";
	case PLAN_BIND_RO:
		return "bind read-only";
	case PLAN_BIND_RW:
		return "bind writable";
	case PLAN_DEVICE:
		return "bind the device";
	case PLAN_PROC:
		return "mount proc on";
	case PLAN_DEVPTS:
		return "mount devpts on";
	case PLAN_OVERLAY:
		return "mount an overlay on";
	case PLAN_BLANK:
		return "cover";
	case PLAN_MKDIRS:
		return "make directories";
	case PLAN_GATE:
		return "mount the read gate on";
	}
	return "build";
}

int build_op(const struct build *b, const struct plan_op *op, struct err *err)
{
	int r = perform(b, op);

	if (r == 0 || op->optional)
		return 0;
	if (op->what == PLAN_PROC && r == -EPERM)
		return err_say(err, r,
			       "mount proc: refused: this is a container that hides parts of "
			       "/proc: run it with an unmasked /proc "
			       "(docker run --security-opt systempaths=unconfined)");
	return err_set(err, r, "%s '%s'", op_words(op->what), op->path);
}

/* ---- the whole build ------------------------------------------------------------------------- */

/*
 * Makes the new root: a tmpfs on top of the old root, which stays reachable as this process's root
 * directory until pivot_root. So no directory of the host has to serve as a mount point, which
 * would hide its content.
 */
static int new_root(void)
{
	AUTO_CLOSE int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOSE);
	AUTO_CLOSE int tree = -1;

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_STRING, "mode", "0755", 0) < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_STRING, "size", "4m", 0) < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOSE, ATTR_NOSUID | ATTR_NODEV);
	if (tree < 0 || syscall(SYS_move_mount, tree, "", AT_FDCWD, "/", MOVE_EMPTY_PATH) < 0 ||
	    fchdir(tree) < 0)
		return -errno;
	return 0;
}

static int loopback_up(void)
{
	struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		return -errno;
	return 0;
}

static int build(const struct build *b, struct err *err)
{
	int r;

	umask(0);
	if (b->private_net && unshare(CLONE_NEWNET) < 0)
		return err_set(err, -errno, "make a network namespace");
	if (b->private_net)
		router_allow_ping();
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(err, -errno, "make the mounts private");
	r = new_root();
	if (r < 0)
		return err_set(err, r, "mount the sandbox's root");
	for (size_t i = 0; i < b->plan->n; i++) {
		r = build_op(b, &b->plan->ops[i], err);
		if (r < 0)
			return r;
	}
	build_ops_done();
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_set(err, -errno, "enter the sandbox's root");
	if (b->private_net) {
		r = loopback_up();
		if (r < 0)
			return err_set(err, r, "bring the loopback interface up");
	}
	return 0;
}

NORETURN void build_run(const struct build *b)
{
	struct err err = {0};
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "cordon-init");
	/* Wait until the keeper has written the id maps. */
	if (read(b->sock, &go, 1) != 1)
		_exit(125);
	prctl(PR_SET_DUMPABLE, 0);
	limits_share_watches();
	if (build(b, &err) < 0 || confine_drop_all(&err) < 0 ||
	    sandbox_init_hand_over(b->sock, b->private_net, &err) < 0)
		child_message_fail(b->sock, 125, &err);
	/* A change of credentials clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sandbox_init_reap(b->sock);
}
