/* modules - dependencies of kernel modules, and the order to load them in. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "backends/vm/guest/elf_sections.h"
#include "backends/vm/guest/unpack.h"
#include "core/base/hash.h"
#include "core/base/io.h"
#include "core/base/path.h"

#define LIST_MAX   ((size_t)32 << 20) /* a modules.dep has about 1 MiB */
#define MODULE_MAX ((size_t)64 << 20)
#define DEPTH_MAX  32

struct module {
	char *name, *path; /* path NULL: built in */
	char *needs;	   /* paths or names, separated by spaces; NULL: not read */
	bool listed;
	UT_hash_handle hh;
};

struct modules {
	char *dir;
	struct module *all;
};

char *modules_name(const char *path)
{
	const char *base = path_base(path), *dot = strstr(base, ".ko");
	char *name = dot ? xstrndup(base, (size_t)(dot - base)) : xstrdup(base);

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static struct module *find(const struct modules *m, const char *path)
{
	AUTO_FREE char *name = modules_name(path);
	struct module *found;

	HASH_FIND_STR(m->all, name, found);
	return found;
}

static struct module *add(struct modules *m, const char *path)
{
	struct module *new = find(m, path);

	if (new)
		return new;
	new = xcalloc(1, sizeof(*new));
	new->name = modules_name(path);
	HASH_ADD_KEYPTR(hh, m->all, new->name, strlen(new->name), new);
	return new;
}

static int read_list(const struct modules *m, const char *name, char **ret)
{
	AUTO_FREE char *path = path_join(m->dir, name);
	size_t len = 0;

	return io_read_file(AT_FDCWD, path, LIST_MAX, ret, &len);
}

/* Parses lines such as "kernel/a.ko: kernel/b.ko kernel/c.ko". */
static void parse_dep(struct modules *m, char *text)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':');
		struct module *new;

		if (!colon)
			continue;
		*colon = '\0';
		new = add(m, line);
		if (new->path)
			continue;
		new->path = xstrdup(line);
		new->needs = xstrdup(colon + 1);
	}
}

static void parse_paths(struct modules *m, char *text, bool builtin)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct module *new = add(m, line);

		if (!builtin && !new->path)
			new->path = xstrdup(line);
	}
}

int modules_open(struct modules **ret, const char *dir, struct err *err)
{
	struct modules *m = xcalloc(1, sizeof(*m));
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *builtin = NULL;
	int r;

	m->dir = xstrdup(dir);
	if (read_list(m, "modules.builtin", &builtin) == 0)
		parse_paths(m, builtin, true);
	r = read_list(m, "modules.dep", &text);
	if (r == 0) {
		parse_dep(m, text);
	} else {
		r = read_list(m, "modules.order", &text);
		if (r == 0)
			parse_paths(m, text, false);
	}
	if (r == 0) {
		*ret = m;
		return 0;
	}
	modules_free(m);
	return err_set(err, r, "read '%s/modules.dep'", dir);
}

void modules_free(struct modules *m)
{
	struct module *i, *tmp;

	if (!m)
		return;
	HASH_ITER (hh, m->all, i, tmp) {
		HASH_DEL(m->all, i);
		free(i->name);
		free(i->path);
		free(i->needs);
		free(i);
	}
	free(m->dir);
	free(m);
}

bool modules_has(const struct modules *m, const char *name)
{
	return find(m, name);
}

int modules_read(const struct modules *m, const char *path, struct buf *out, struct err *err)
{
	AUTO_FREE char *full = path_join(m->dir, path);
	AUTO_FREE char *bytes = NULL;
	size_t len = 0;
	int r = io_read_file(AT_FDCWD, full, MODULE_MAX, &bytes, &len);

	if (r == -ENOENT)
		return err_say(err, r,
			       "'%s' is not here, though the kernel is: cordon vm build --download "
			       "unpacks one anew",
			       full);
	if (r < 0)
		return err_set(err, r, "read '%s'", full);
	r = unpack(bytes, len, out, err);
	return r < 0 ? err_wrap(err, r, "'%s'", full) : 0;
}

/* Returns "fuse virtio" for "license=GPL\0depends=fuse,virtio\0". */
static char *parse_modinfo(struct span info)
{
	static const char key[] = "depends=";
	size_t at = 0;

	while (at < info.len) {
		size_t len = strnlen(info.data + at, info.len - at);

		if (len >= sizeof(key) - 1 && memcmp(info.data + at, key, sizeof(key) - 1) == 0) {
			char *list =
				xstrndup(info.data + at + sizeof(key) - 1, len - (sizeof(key) - 1));

			for (char *p = list; *p; p++)
				if (*p == ',')
					*p = ' ';
			return list;
		}
		at += len + 1;
	}
	return xstrdup("");
}

static int read_needs(const struct modules *m, struct module *module, struct err *err)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	struct span info;
	int r = modules_read(m, module->path, &bytes, err);

	if (r < 0)
		return r;
	if (!elf_section((struct span){bytes.data, bytes.len}, ".modinfo", &info))
		return err_say(err, -ENOEXEC, "'%s/%s' is no kernel module", m->dir, module->path);
	module->needs = parse_modinfo(info);
	return 0;
}

struct adding {
	struct modules *m;
	char ***list;
	size_t *n;
};

static int add_needed(struct adding *a, const char *name, int depth, struct err *err)
{
	struct module *module = find(a->m, name);
	AUTO_FREE char *needs = NULL;
	char *rest;
	int r = 0;

	if (!module || depth > DEPTH_MAX)
		return err_say(err, -ENOENT, "this kernel has no module '%s'", name);
	if (!module->path || module->listed)
		return 0;
	module->listed = true;
	if (!module->needs)
		r = read_needs(a->m, module, err);
	needs = xstrdup(module->needs);
	for (char *next = needs ? strtok_r(needs, " ", &rest) : NULL; next && r == 0;
	     next = strtok_r(NULL, " ", &rest))
		r = add_needed(a, next, depth + 1, err);
	if (r < 0)
		return r;
	util_list_push(a->list, a->n, xstrdup(module->path));
	return 0;
}

int modules_add(struct modules *m, const char *name, char ***list, size_t *n, struct err *err)
{
	struct adding a = {.m = m, .list = list, .n = n};

	return add_needed(&a, name, 0, err);
}
