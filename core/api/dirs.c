/* dirs - the directories of a session and the names that front ends use for them. */
/* SPDX-License-Identifier: MIT */
#include "core/api/dirs.h"

#include <cjson/cJSON.h>

#include "core/api/describe.h"
#include "core/base/path.h"
#include "core/session/session.h"

void dirs_done(struct dirs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->list[i].path);
		free(p->list[i].label);
	}
	free(p->list);
	*p = (struct dirs){0};
}

static bool has_label(const struct dirs *p, const char *label)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(p->list[i].label, label))
			return true;
	return false;
}

static char *free_label(const struct dirs *p, const char *path)
{
	char *label = xstrdup(path_base(path));

	for (size_t i = 2; has_label(p, label); i++) {
		free(label);
		label = xasprintf("%s-%zu", path_base(path), i);
	}
	return label;
}

int dirs_add(struct dirs *p, const char *path, const char *label, bool read_only, struct fault *f)
{
	if (label && has_label(p, label))
		return fault_say(f, FAULT_SESSION_DIRECTORY, "label '%s': given twice", label);
	p->list = xrealloc(p->list, (p->n + 1) * sizeof(*p->list));
	p->list[p->n] = (struct dir){
		.path = xstrdup(path),
		.label = label ? xstrdup(label) : free_label(p, path),
		.read_only = read_only,
	};
	p->n++;
	return 0;
}

void dirs_of_spec(struct dirs *p, const struct session_spec *spec)
{
	for (size_t i = 0; spec->folders && spec->folders[i]; i++)
		(void)!dirs_add(p, spec->folders[i], NULL, false, NULL);
	for (size_t i = 0; spec->read_only && spec->read_only[i]; i++)
		(void)!dirs_add(p, spec->read_only[i], NULL, true, NULL);
}

const struct dir *dirs_find(const struct dirs *p, const cJSON *name, struct fault *f)
{
	if (!p->n) {
		fault_say(f, FAULT_SESSION_NONE, "no session runs: start one with session.start");
		return NULL;
	}
	if (!name)
		return &p->list[0];
	for (size_t i = 0; i < p->n; i++) {
		const struct dir *one = &p->list[i];

		if (cJSON_IsNumber(name) && name->valuedouble == (double)i)
			return one;
		if (cJSON_IsString(name) &&
		    (str_eq(name->valuestring, one->label) || str_eq(name->valuestring, one->path)))
			return one;
	}
	fault_say(f, FAULT_SESSION_DIRECTORY,
		  "directory: the session has none of that label, path or number");
	return NULL;
}

char *dir_path(const struct dir *p, const char *path)
{
	AUTO_FREE char *joined = path_join(p->path, path);

	return path_clean(joined);
}

cJSON *dirs_json(const struct dirs *p)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < p->n; i++) {
		cJSON *one = cJSON_CreateObject();

		describe_add(one, "path", p->list[i].path);
		describe_add(one, "label", p->list[i].label);
		cJSON_AddStringToObject(one, "access",
					p->list[i].read_only ? "read_only" : "read_write");
		cJSON_AddItemToArray(list, one);
	}
	return list;
}
