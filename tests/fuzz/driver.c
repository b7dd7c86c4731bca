/* driver - runs a fuzz target without libFuzzer: its corpus and mutations of it, as a TAP test. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEEDS 255
#define MAX_BYTES (64 * 1024)
#define ROUNDS	  4000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
	uint8_t *data;
	size_t size;
};

static struct seed seeds[MAX_SEEDS + 1];
static size_t n_seeds;
static uint64_t state = 88172645463325252u; /* the same run every time */

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void load(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && n_seeds < MAX_SEEDS && (e = readdir(d))) {
		char path[4096];
		FILE *f;
		struct seed *s = &seeds[n_seeds];

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "rbe");
		if (!f)
			continue;
		s->data = malloc(MAX_BYTES);
		s->size = fread(s->data, 1, MAX_BYTES, f);
		n_seeds++;
		fclose(f);
	}
	if (d)
		closedir(d);
}

static size_t mutate(uint8_t *out, const struct seed *s)
{
	size_t size = s->size;

	memcpy(out, s->data, size);
	for (int n = 1 + (int)(next() % 8); n > 0; n--) {
		size_t at = size ? next() % size : 0;
		const struct seed *other = &seeds[next() % n_seeds];

		switch (next() % 5) {
		case 0: /* a byte */
			if (size)
				out[at] = (uint8_t)next();
			break;
		case 1: /* a bit */
			if (size)
				out[at] ^= (uint8_t)(1u << next() % 8);
			break;
		case 2: /* cut */
			size = at;
			break;
		case 3: /* insert */
			if (size < MAX_BYTES) {
				memmove(out + at + 1, out + at, size - at);
				out[at] = (uint8_t)next();
				size++;
			}
			break;
		default: /* the head of another input, and our tail */
			if (other->size <= MAX_BYTES - at) {
				memcpy(out + at, other->data, other->size);
				size = at + other->size;
			}
		}
	}
	return size;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	uint8_t *out = malloc(2 * MAX_BYTES);
	char corpus[512];

	(void)argc;
	name = name ? name + 1 : argv[0];
	snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s", name + strlen("fuzz_"));
	load(corpus);
	seeds[n_seeds].data = malloc(1);
	seeds[n_seeds].data[0] = '\n';
	seeds[n_seeds++].size = 1;
	printf("1..2\n");
	fflush(stdout);
	for (size_t i = 0; i < n_seeds; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
	printf("ok 1 - %s: %zu seeds\n", name, n_seeds);
	fflush(stdout);
	alarm(100);
	for (int i = 0; i < ROUNDS; i++)
		LLVMFuzzerTestOneInput(out, mutate(out, &seeds[next() % n_seeds]));
	printf("ok 2 - %s: %d mutations\n", name, ROUNDS);
	for (size_t i = 0; i < n_seeds; i++)
		free(seeds[i].data);
	free(out);
	return 0;
}
