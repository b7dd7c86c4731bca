/* manifest - installed.json in the state folder: which files are cordon's own. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/setup/setup_priv.h"

#define NAME	  "installed.json"
#define MAX_BYTES (1u << 20)

uint64_t manifest_hash(const char *text, size_t len)
{
	return XXH3_64bits(text, len);
}

void manifest_done(struct manifest *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		free(m->files[i].path);
		free(m->files[i].backup);
	}
	for (size_t i = 0; i < m->n_dirs; i++)
		free(m->dirs[i]);
	free(m->files);
	free(m->dirs);
	*m = (struct manifest){0};
}

void manifest_add_file(struct manifest *m, const struct manifest_file *f)
{
	struct manifest_file copy = {xstrdup(f->path), xstrdup(f->backup), f->hash, f->hook};

	for (size_t i = 0; i < m->n_files; i++) {
		struct manifest_file *old = &m->files[i];

		if (!str_eq(old->path, f->path))
			continue;
		free(old->path);
		free(old->backup);
		*old = copy;
		return;
	}
	m->files = xrealloc(m->files, (m->n_files + 1) * sizeof(*m->files));
	m->files[m->n_files++] = copy;
}

void manifest_add_dir(struct manifest *m, const char *path)
{
	for (size_t i = 0; i < m->n_dirs; i++)
		if (str_eq(m->dirs[i], path))
			return;
	m->dirs = xrealloc(m->dirs, (m->n_dirs + 1) * sizeof(*m->dirs));
	m->dirs[m->n_dirs++] = xstrdup(path);
}

static const char *text_of(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
}

static int take(struct manifest *m, const cJSON *root)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItem(root, "files"))
	{
		const char *path = text_of(item, "path"), *hash = text_of(item, "hash");
		const char *backup = text_of(item, "backup");
		struct manifest_file f = {NULL, NULL, 0, false};

		if (!path || *path != '/' || !hash || (backup && *backup != '/'))
			return -EBADMSG;
		f.path = xstrdup(path);
		f.backup = xstrdup(backup);
		f.hash = strtoull(hash, NULL, 16);
		f.hook = cJSON_IsTrue(cJSON_GetObjectItem(item, "hook"));
		m->files = xrealloc(m->files, (m->n_files + 1) * sizeof(*m->files));
		m->files[m->n_files++] = f;
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(root, "dirs"))
	{
		if (!cJSON_IsString(item) || *item->valuestring != '/')
			return -EBADMSG;
		manifest_add_dir(m, item->valuestring);
	}
	return 0;
}

int manifest_load(struct manifest *ret, const char *state_dir, struct err *err)
{
	AUTO_FREE char *path = path_join(state_dir, NAME), *text = NULL;
	size_t len = 0;
	cJSON *root;
	int r = io_read_file(AT_FDCWD, path, MAX_BYTES, &text, &len);

	*ret = (struct manifest){0};
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_set(err, r, "read %s", path);
	root = cJSON_ParseWithLength(text, len);
	r = root ? take(ret, root) : -EBADMSG;
	cJSON_Delete(root);
	if (r == 0)
		return 0;
	manifest_done(ret);
	return err_say(err, r,
		       "%s is damaged: remove by hand what `cordon install` made, then this file",
		       path);
}

int manifest_save(const struct manifest *m, const char *state_dir, struct err *err)
{
	AUTO_FREE char *path = path_join(state_dir, NAME);
	AUTO_BUF struct buf b = BUF_INIT;
	int r;

	buf_str(&b, "{\"version\":1,\"files\":[");
	for (size_t i = 0; i < m->n_files; i++) {
		const struct manifest_file *f = &m->files[i];

		buf_str(&b, i ? ",\n{" : "\n{");
		json_member(&b, "path", f->path);
		buf_fmt(&b, ",\"hash\":\"%016" PRIx64 "\",\"hook\":%s", f->hash,
			f->hook ? "true" : "false");
		if (f->backup)
			json_member(&b, "backup", f->backup);
		buf_ch(&b, '}');
	}
	buf_str(&b, "]");
	json_strings(&b, "dirs", (const char *const *)m->dirs, m->n_dirs);
	buf_str(&b, "}\n");
	r = io_write_file(AT_FDCWD, path, 0600, b.data, b.len, true);
	return r < 0 ? err_set(err, r, "write %s", path) : 0;
}
