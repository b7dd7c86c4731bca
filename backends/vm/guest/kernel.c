/* kernel - finds kernels of this host, or of a package, that a guest may start. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/kernel.h"

#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/path.h"

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Excludes pipes: opening one would block. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
}

/* "/boot/vmlinuz-6.1" -> "6.1"; "/usr/lib/modules/6.1/vmlinuz" -> "6.1"; or NULL. */
static char *release_of(const char *image)
{
	static const char prefix[] = "vmlinuz-";
	const char *base = path_base(image);
	AUTO_FREE char *dir = dir_of(image);

	if (str_starts(base, prefix))
		return xstrdup(base + sizeof(prefix) - 1);
	return str_eq(base, "vmlinuz") ? xstrdup(path_base(dir)) : NULL;
}

/* Returns the directory of modules: beside the image, as in an unpacked package, or where the
 * system installs them. */
static char *modules_of(const char *image, const char *release)
{
	AUTO_FREE char *dir = dir_of(image);
	AUTO_FREE char *beside = xasprintf("%s/../lib/modules/%s", dir, release);
	AUTO_FREE char *below = xasprintf("%s/../usr/lib/modules/%s", dir, release);
	char *path;

	if (str_eq(path_base(image), "vmlinuz") && is_dir(dir))
		return take_ptr(&dir);
	if (is_dir(beside))
		return take_ptr(&beside);
	if (is_dir(below))
		return take_ptr(&below);
	path = xasprintf("/lib/modules/%s", release);
	if (is_dir(path))
		return path;
	free(path);
	return NULL;
}

static void add(struct kernels *k, const char *image)
{
	struct kernel new = {.release = release_of(image)};

	if (new.release && access(image, R_OK) < 0 && errno == EACCES && !k->unreadable)
		k->unreadable = xstrdup(image);
	if (new.release && is_file(image) && access(image, R_OK) == 0)
		new.modules = modules_of(image, new.release);
	for (size_t i = 0; i < k->n && new.modules; i++)
		if (str_eq(k->list[i].modules, new.modules)) {
			free(new.modules);
			new.modules = NULL;
		}
	if (!new.modules) {
		free(new.release);
		return;
	}
	new.image = xstrdup(image);
	k->list = xrealloc(k->list, (k->n + 1) * sizeof(*k->list));
	k->list[k->n++] = new;
}

/* Adds the images that match, newest first by name. */
static void add_all(struct kernels *k, const char *pattern)
{
	glob_t g;

	if (glob(pattern, 0, NULL, &g) != 0)
		return;
	for (size_t i = g.gl_pathc; i-- > 0;)
		add(k, g.gl_pathv[i]);
	globfree(&g);
}

int kernels_find(struct kernels *ret, const char *setting, const char *packages, struct err *err)
{
	AUTO_FREE char *unpacked = xasprintf("%s/*/boot/vmlinuz-*", packages);
	AUTO_FREE char *own = NULL;
	struct utsname u;

	*ret = (struct kernels){0};
	if (setting && *setting) {
		add(ret, setting);
		if (ret->n)
			return 0;
		if (ret->unreadable)
			err_say(err, -EACCES,
				"vm.kernel: you may not read '%s': make it readable, or leave "
				"vm.kernel out and run `cordon vm build --download`",
				setting);
		else if (access(setting, R_OK) < 0)
			err_set(err, -errno, "vm.kernel: read '%s'", setting);
		else if (!is_file(setting))
			err_say(err, -EINVAL, "vm.kernel: '%s' is no file: name a kernel's image",
				setting);
		if (err->code) {
			kernels_done(ret);
			return err->code;
		}
		return err_say(
			err, -ENOENT,
			"vm.kernel: '%s' has no modules: an image named vmlinuz-RELEASE with "
			"/lib/modules/RELEASE, or ../lib/modules/RELEASE beside it, is needed",
			setting);
	}
	add_all(ret, unpacked);
	uname(&u);
	own = xasprintf("/boot/vmlinuz-%s", u.release);
	add(ret, own);
	add_all(ret, "/boot/vmlinuz-*");
	add_all(ret, "/usr/lib/modules/*/vmlinuz");
	if (ret->n)
		return 0;
	if (ret->unreadable)
		err_say(err, -ENOENT,
			"only root may read %s: run `cordon vm build --download`, or make it "
			"readable and run `cordon vm build`",
			ret->unreadable);
	else
		err_say(err, -ENOENT,
			"no kernel for the guest here: run `cordon vm build --download`");
	kernels_done(ret);
	return -ENOENT;
}

void kernels_done(struct kernels *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->list[i].image);
		free(k->list[i].modules);
		free(k->list[i].release);
	}
	free(k->list);
	free(k->unreadable);
	*k = (struct kernels){0};
}
