/* guest - the files that a guest is started from: kernel and base of the initramfs. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/guest/initramfs.h"
#include "backends/vm/guest/kernel.h"
#include "backends/vm/guest/vmlinux.h"
#include "core/base/io.h"
#include "core/base/path.h"

#define FORMAT	  2 /* of the kept files: a new number rebuilds them */
#define IMAGE_MAX ((size_t)256 << 20)
#define STAMP_MAX 4096

char *guest_packages(const char *state_dir)
{
	return xasprintf("%s/vm/packages", state_dir);
}

char *guest_shim(struct err *err)
{
	static const char *const places[] = {"vm-init", "../libexec/cordon/vm-init"};
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);

	if (self)
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places) && self; i++) {
		AUTO_FREE char *path = path_join(self, places[i]);
		char *found = realpath(path, NULL);

		if (found)
			return found;
	}
	err_say(err, -ENOENT,
		"the guest's first program, vm-init, is not beside %s: install "
		"cordon anew",
		self ? self : "cordon");
	return NULL;
}

/* Returns a stamp that identifies the kernel and pid 1. Heap string. */
static char *stamp_of(const struct kernel *k, const char *shim, struct err *err)
{
	struct stat image, init;

	if (stat(k->image, &image) < 0) {
		err_set(err, -errno, "look at '%s'", k->image);
		return NULL;
	}
	if (stat(shim, &init) < 0) {
		err_set(err, -errno, "look at '%s'", shim);
		return NULL;
	}
	return xasprintf("%d\n%s\n%s\n%jd.%09ld %jd\n%jd.%09ld %jd\n", FORMAT, k->image, k->modules,
			 (intmax_t)image.st_mtim.tv_sec, image.st_mtim.tv_nsec,
			 (intmax_t)image.st_size, (intmax_t)init.st_mtim.tv_sec,
			 init.st_mtim.tv_nsec, (intmax_t)init.st_size);
}

static char *place_of(const struct guest_spec *spec, const struct kernel *k)
{
	AUTO_FREE char *label = path_label(k->image);

	return xasprintf("%s/vm/guest/%s", spec->state_dir, label);
}

static bool is_kept(const char *dir, const char *stamp)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *there = NULL;
	size_t len = 0;

	return fd >= 0 && io_read_file(fd, "stamp", STAMP_MAX, &there, &len) == 0 &&
	       str_eq(there, stamp);
}

static int fill(struct guest *g, const struct kernel *k, const char *dir, struct err *err)
{
	struct stat a, b;

	*g = (struct guest){.release = xstrdup(k->release),
			    .kernel = path_join(dir, "vmlinux"),
			    .base = path_join(dir, "base.cpio")};
	if (stat(g->kernel, &a) == 0 && stat(g->base, &b) == 0) {
		g->size = (int64_t)a.st_size + b.st_size;
		return 0;
	}
	err_set(err, -errno, "look at '%s'", dir);
	guest_done(g);
	return err->code;
}

static int make_kernel(int dir, const struct kernel *k, struct err *err)
{
	AUTO_BUF struct buf kernel = BUF_INIT;
	AUTO_FREE char *image = NULL;
	AUTO_CLOSE int fd = open(k->image, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	int r = fd < 0 ? -errno : io_read_all(fd, IMAGE_MAX, &image, &len);

	if (r < 0)
		return err_set(err, r, "read '%s'", k->image);
	r = vmlinux_extract((struct span){image, len}, &kernel, err);
	if (r == -ENOEXEC) { /* QEMU may start it as it is, more slowly */
		*err = (struct err){0};
		buf_add(&kernel, image, len);
		r = 0;
	}
	if (r < 0)
		return err_wrap(err, r, "'%s'", k->image);
	r = io_write_file(dir, "vmlinux", 0600, kernel.data, kernel.len, false);
	return r < 0 ? err_set(err, r, "write the guest's kernel") : 0;
}

static int make_base(int dir, const struct kernel *k, const char *shim, struct err *err)
{
	AUTO_BUF struct buf base = BUF_INIT;
	int r = initramfs_base(&base, k->modules, shim, err);

	if (r < 0)
		return err_wrap(err, r, "kernel %s", k->release);
	r = io_write_file(dir, "base.cpio", 0600, base.data, base.len, false);
	return r < 0 ? err_set(err, r, "write the guest's initramfs") : 0;
}

/* Makes the files. The stamp is written last: files without a stamp are not used. */
static int make(const char *dir, const struct kernel *k, const char *shim, const char *stamp,
		struct err *err)
{
	AUTO_CLOSE int fd = -1;
	int r = io_mkdir_p(AT_FDCWD, dir, 0700);

	fd = r < 0 ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && fd < 0)
		r = -errno;
	if (r == 0)
		r = io_lock(fd); /* two sessions may start at the same time */
	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	if (is_kept(dir, stamp))
		return 0;
	if (unlinkat(fd, "stamp", 0) < 0 && errno != ENOENT)
		return err_set(err, -errno, "remove '%s/stamp'", dir);
	r = make_base(fd, k, shim, err);
	if (r == 0)
		r = make_kernel(fd, k, err);
	if (r < 0)
		return r;
	r = io_write_file(fd, "stamp", 0600, stamp, strlen(stamp), false);
	return r < 0 ? err_set(err, r, "write '%s/stamp'", dir) : 0;
}

static int try(struct guest *ret, const struct guest_spec *spec, const struct kernel *k, bool may,
	       struct err *err)
{
	AUTO_FREE char *dir = place_of(spec, k);
	AUTO_FREE char *stamp = stamp_of(k, spec->shim, err);
	bool kept;
	int r;

	if (!stamp)
		return err->code;
	kept = is_kept(dir, stamp);
	if (!kept && !may)
		return err_say(err, -EAGAIN, "made of %s at the first start", k->image);
	r = kept ? 0 : make(dir, k, spec->shim, stamp, err);
	if (r == 0)
		r = fill(ret, k, dir, err);
	if (r == 0)
		ret->made = !kept;
	return r;
}

static int prepare(struct guest *ret, const struct guest_spec *spec, bool may, struct err *err)
{
	AUTO_FREE char *packages = guest_packages(spec->state_dir);
	struct err first = {0}, why = {0};
	struct kernels k;
	int r = kernels_find(&k, spec->kernel, packages, err);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < k.n && r < 0; i++) {
		why = (struct err){0};
		r = try(ret, spec, &k.list[i], may, &why);
		if (r < 0 && !first.code)
			first = why;
	}
	kernels_done(&k);
	return r < 0 ? err_say(err, first.code, "%s", first.text) : 0;
}

int guest_prepare(struct guest *ret, const struct guest_spec *spec, struct err *err)
{
	return prepare(ret, spec, true, err);
}

int guest_find(struct guest *ret, const struct guest_spec *spec, struct err *err)
{
	return prepare(ret, spec, false, err);
}

void guest_done(struct guest *g)
{
	free(g->release);
	free(g->kernel);
	free(g->base);
	*g = (struct guest){0};
}
