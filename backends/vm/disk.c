/* disk - images that keep guests' changes outside the working folders. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/external.h"
#include "core/base/path.h"

#define SIZE_MIN ((int64_t)64 << 20)
#define PATH_LEN ((size_t)8192)

static int open_dir(const char *state_dir, bool make, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("%s/vm/disks", state_dir);
	int r = make ? io_mkdir_p(AT_FDCWD, dir, 0700) : 0;
	int fd = r < 0 ? r : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, r < 0 ? r : -errno, "open '%s'", dir);
	return fd;
}

/* Formats the image. The lazy_* options leave most of its blocks unwritten. -m 0 reserves no blocks
 * for root, because the guest's user is root. */
static int make_fs(const char *path, struct err *err)
{
	const char *argv[] = {"mkfs.ext4",
			      "-q",
			      "-F",
			      "-m",
			      "0",
			      "-E",
			      "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
			      path,
			      NULL};
	const char *const places[] = {"/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4",
				      "/usr/bin/mkfs.ext4"};
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(places) && r == -ENOENT; i++) {
		argv[0] = places[i];
		r = external_run_here(argv, err);
	}
	if (r == -ENOENT)
		return err_say(err, r, "mkfs.ext4 is not here: install e2fsprogs");
	return r > 0 ? err_say(err, -EIO, "mkfs.ext4 has failed on '%s'", path) : r;
}

/* Makes an image. The file gets its final name after the file system is complete. */
static int make_image(int dir, const char *state_dir, const char *label, int64_t size,
		      struct err *err)
{
	AUTO_FREE char *name = xasprintf("%s.img", label);
	AUTO_FREE char *fresh = xasprintf("%s.new", label);
	AUTO_FREE char *path = xasprintf("%s/vm/disks/%s", state_dir, fresh);
	AUTO_CLOSE int fd = -1;
	int r;

	if (size < SIZE_MIN)
		return err_say(err, -EINVAL, "vm.disk: 64m are the least that an image needs");
	fd = openat(dir, fresh, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, size) < 0)
		return err_set(err, -errno, "make '%s'", path);
	r = make_fs(path, err);
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = err_set(err, -errno, "name '%s'", path);
	if (r < 0)
		unlinkat(dir, fresh, 0);
	return r;
}

static int lock_image(int dir, const char *name, struct err *err)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, -errno, "open the guest's image");
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_say(err, -EBUSY,
			       "the guest's image is in use: a persistent session of this folder "
			       "runs: end it, or start without --vm-mode persistent");
	return take_fd(&fd);
}

int disk_open(const char *state_dir, const char *folder, int64_t size, struct err *err)
{
	AUTO_FREE char *label = path_label(folder);
	AUTO_FREE char *name = xasprintf("%s.img", label);
	AUTO_FREE char *note = xasprintf("%s.folder", label);
	AUTO_CLOSE int dir = open_dir(state_dir, true, err);
	int r;

	if (dir < 0)
		return dir;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		r = make_image(dir, state_dir, label, size, err);
		if (r == 0)
			r = io_write_file(dir, note, 0600, folder, strlen(folder), false);
		if (r < 0)
			return err->code ? err->code : err_set(err, r, "write '%s'", note);
	}
	return lock_image(dir, name, err);
}

int disk_remove(const char *state_dir, const char *folder, struct err *err)
{
	AUTO_FREE char *label = path_label(folder);
	AUTO_FREE char *name = xasprintf("%s.img", label);
	AUTO_FREE char *note = xasprintf("%s.folder", label);
	AUTO_CLOSE int dir = open_dir(state_dir, true, err);
	AUTO_CLOSE int fd = -1;

	if (dir < 0)
		return dir;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return err_say(err, -ENOENT, "no guest of '%s' has kept anything", folder);
	fd = lock_image(dir, name, err);
	if (fd < 0)
		return fd;
	if (unlinkat(dir, name, 0) < 0 || (unlinkat(dir, note, 0) < 0 && errno != ENOENT))
		return err_set(err, -errno, "remove the guest's image");
	return 0;
}

static void look(int dir, const char *note, void (*fn)(void *data, const struct disk *d),
		 void *data)
{
	AUTO_FREE char *label = xstrndup(note, strlen(note) - strlen(".folder"));
	AUTO_FREE char *name = xasprintf("%s.img", label);
	AUTO_FREE char *folder = NULL;
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	size_t len = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || io_read_file(dir, note, PATH_LEN, &folder, &len) < 0)
		return;
	fn(data, &(struct disk){.folder = folder,
				.used = (int64_t)st.st_blocks * 512,
				.size = st.st_size,
				.busy = flock(fd, LOCK_SH | LOCK_NB) < 0});
}

int disk_list(const char *state_dir, void (*fn)(void *data, const struct disk *d), void *data,
	      struct err *err)
{
	int fd = open_dir(state_dir, true, err);
	AUTO_DIR DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return fd < 0 ? fd : err_set(err, -errno, "list the guests' images");
	while ((e = readdir(d)))
		if (str_ends(e->d_name, ".folder"))
			look(dirfd(d), e->d_name, fn, data);
	return 0;
}
