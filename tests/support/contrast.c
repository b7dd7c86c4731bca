/* contrast - fails if a theme has text that is hard to read: `make lint`. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/support/contrast.h"

static const char *const role_names[ROLE_COUNT] = {
#define X(id, area, name) [ROLE_##id] = area "." name,
	ROLES(X)
#undef X
};

/* "dim" is listed as ".dim". */
static const char *name_of(int role)
{
	return role_names[role] + (role_names[role][0] == '.');
}

static int look_at(const char *file)
{
	static const struct {
		enum depth depth;
		const char *words;
	} depths[] = {{DEPTH_TRUE, "24 bits"}, {DEPTH_256, "256 colours"}};
	bool high = strstr(file, "high-contrast") != NULL;
	double has, least;
	int faults = 0;

	for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
		struct theme t;
		struct err err = {0};
		int role;

		if (theme_load(&t, file, NULL, depths[i].depth, &err) < 0) {
			fprintf(stderr, "lint: %s\n", err.text);
			return 1;
		}
		role = contrast_fault(&t, high, &has, &least);
		if (role < 0)
			continue;
		fprintf(stderr, "lint: %s: %s has a contrast of %.2f in %s, at least %.1f\n", file,
			name_of(role), has, depths[i].words, least);
		faults++;
	}
	return faults;
}

int main(int argc, char **argv)
{
	int faults = 0;

	for (int i = 1; i < argc; i++)
		faults += look_at(argv[i]);
	return faults != 0;
}
