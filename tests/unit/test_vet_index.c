/* test_vet_index - an index that git may read, and the ways in which one can mislead it. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <time.h>

#include "core/policy/policy_priv.h"
#include "tests/support/check.h"

#define FILE_MODE 0100644u

struct maker {
	struct buf b;
	uint32_t version, n;
	size_t hash;
	char last[8192];
	size_t block; /* entries in a block of IEOT; 0: no blocks */
	struct buf blocks;
	uint32_t in_block;
};

static void put32(struct buf *b, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_ch(b, (char)(v >> shift));
}

static void set32(struct buf *b, size_t at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		b->data[at + (size_t)i] = (char)(v >> (24 - 8 * i));
}

static void zeros(struct buf *b, size_t n)
{
	while (n--)
		buf_ch(b, '\0');
}

static struct maker make(uint32_t version, size_t hash)
{
	struct maker m = {.version = version, .hash = hash};

	m.b = (struct buf)BUF_INIT;
	m.blocks = (struct buf)BUF_INIT;
	buf_str(&m.b, "DIRC");
	put32(&m.b, version);
	put32(&m.b, 0);
	return m;
}

static void put_varint(struct buf *b, size_t v)
{
	unsigned char out[16];
	size_t at = sizeof(out);

	out[--at] = v & 0x7f;
	while (v >>= 7)
		out[--at] = (unsigned char)(0x80 | (--v & 0x7f));
	buf_add(b, (char *)out + at, sizeof(out) - at);
}

static void add_mode(struct maker *m, const char *name, uint32_t mode)
{
	size_t start = m->b.len, len = strlen(name), common = 0;
	uint32_t flags = len < 0xfff ? (uint32_t)len : 0xfff;
	bool first = m->block && m->n % m->block == 0;

	if (first) {
		if (m->n)
			put32(&m->blocks, (uint32_t)m->block);
		put32(&m->blocks, (uint32_t)start);
	}
	zeros(&m->b, 24);
	put32(&m->b, mode);
	zeros(&m->b, 12 + m->hash);
	buf_ch(&m->b, (char)(flags >> 8));
	buf_ch(&m->b, (char)flags);
	if (m->version == 4) {
		while (!first && name[common] && name[common] == m->last[common])
			common++;
		put_varint(&m->b, strlen(m->last) - common);
		buf_add(&m->b, name + common, len - common + 1);
		snprintf(m->last, sizeof(m->last), "%s", name);
	} else {
		buf_add(&m->b, name, len);
		zeros(&m->b, 8 - (m->b.len - start) % 8);
	}
	set32(&m->b, 8, ++m->n);
}

static void add(struct maker *m, const char *name)
{
	add_mode(m, name, FILE_MODE);
}

static void extension(struct maker *m, const char *name, const char *data, size_t len)
{
	buf_str(&m->b, name);
	put32(&m->b, (uint32_t)len);
	buf_add(&m->b, data, len);
}

static bool hides;

static bool vet(struct maker *m)
{
	zeros(&m->b, m->hash);
	return vet_git_index(m->b.data, m->b.len, m->hash, &hides);
}

static void done(struct maker *m)
{
	buf_done(&m->b);
	buf_done(&m->blocks);
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(good_names)
{
	static const char *const names[] = {".gitignore", ".github/x", "a/.gitattributes",
					    "a..b",	  "...",       "git",
					    "g~1",	  "gita~1",    "na\xc3\xafve",
					    "x.git/HEAD", "a/.git.c",  "\xff\xfe"};

	for (uint32_t version = 2; version <= 4; version++)
		for (size_t hash = 20; hash <= 32; hash += 12) {
			struct maker m = make(version, hash);

			for (size_t i = 0; i < ARRAY_LEN(names); i++)
				add(&m, names[i]);
			add_mode(&m, "link", 0120000);
			add_mode(&m, "module", 0160000);
			add_mode(&m, "sparse/", 0040000);
			if (!vet(&m))
				fail_msg("version %u, hash %zu", version, hash);
			done(&m);
		}
}

TEST(bad_names)
{
	static const char *const names[] = {"/home/u/.bashrc",
					    "../x",
					    "a/../../x",
					    "a/..",
					    "./x",
					    "a/./x",
					    "a//x",
					    "a/",
					    ".git/config",
					    ".GIT/config",
					    "a/.git/hooks/x",
					    ".git",
					    "git~1/x",
					    "GIT~2/x",
					    ".git /x",
					    ".git./x",
					    ".git::$X/x",
					    "a\\.git\\x",
					    "a\\..\\..\\x",
					    ".g\xe2\x80\x8cit/x",
					    ".\xef\xbb\xbfgit/x",
					    "..\\x"};

	for (uint32_t version = 2; version <= 4; version++)
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct maker m = make(version, 20);

			add(&m, "good");
			add(&m, names[i]);
			add(&m, "good too");
			if (vet(&m))
				fail_msg("version %u: %s", version, names[i]);
			done(&m);
		}
}

TEST(bad_modes)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} list[] = {
		{"x", 0040000}, {"x", 0010000}, {"x", 0}, {".gitmodules", 0120000}, {"/", 0040000}};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct maker m = make(2, 20);

		add_mode(&m, list[i].name, list[i].mode);
		assert_false(vet(&m));
		done(&m);
	}
}

/* A part of a split index: names that are in the shared index are empty. */
TEST(split)
{
	for (int linked = 0; linked < 2; linked++) {
		struct maker m = make(2, 20);
		char base[20] = "";

		add(&m, "");
		add(&m, "b");
		if (linked)
			extension(&m, "link", base, sizeof(base));
		assert_int_equal(vet(&m), linked);
		done(&m);
	}
}

TEST(long_names)
{
	char name[5001];

	for (size_t len = 4000; len <= 5000; len += 500) {
		struct maker m = make(2, 20);

		memset(name, 'a', len);
		name[len] = '\0';
		add(&m, name);
		assert_int_equal(vet(&m), len <= 4096);
		done(&m);
	}
}

/* Offsets at which git's threads begin, right and wrong. */
TEST(offsets)
{
	for (uint32_t version = 2; version <= 4; version += 2)
		for (int lie = 0; lie < 5; lie++) {
			struct maker m = make(version, 20);
			AUTO_BUF struct buf ieot = BUF_INIT;
			AUTO_BUF struct buf eoie = BUF_INIT;
			uint32_t end;

			m.block = lie == 3 ? 0 : 2;
			add(&m, "aaa");
			add(&m, "aab");
			add(&m, "aac");
			end = (uint32_t)m.b.len;
			put32(&ieot, lie == 4 ? 2 : 1);
			buf_add(&ieot, m.blocks.data, m.blocks.len);
			put32(&ieot, lie == 1 ? 2 : 1);
			if (lie != 3)
				extension(&m, "IEOT", ieot.data, ieot.len);
			put32(&eoie, lie == 2 ? end - 8 : end);
			zeros(&eoie, 20);
			extension(&m, "EOIE", eoie.data, eoie.len);
			if (vet(&m) != (lie == 0 || lie == 3))
				fail_msg("version %u, lie %d", version, lie);
			done(&m);
		}
}

/* In version 4 a block begins with a whole name: git drops the one before. */
TEST(block_of_cut_name)
{
	struct maker m = make(4, 20);
	AUTO_BUF struct buf ieot = BUF_INIT;
	size_t second;

	add(&m, "x/a");
	second = m.b.len;
	add(&m, "x//b"); /* as text "x//b"; for a thread that begins here: "/b" */
	put32(&ieot, 1);
	put32(&ieot, 12);
	put32(&ieot, 1);
	put32(&ieot, (uint32_t)second);
	put32(&ieot, 1);
	extension(&m, "IEOT", ieot.data, ieot.len);
	assert_false(vet(&m));
	done(&m);
}

/* EOIE inside another extension's data: git looks there, although it does not belong there. */
TEST(hidden_end)
{
	struct maker m = make(2, 20);
	AUTO_BUF struct buf data = BUF_INIT;

	add(&m, "a");
	buf_str(&data, "junkEOIE");
	put32(&data, 24);
	put32(&data, 12);
	zeros(&data, 20);
	extension(&m, "TREE", data.data, data.len);
	assert_false(vet(&m));
	done(&m);
}

TEST(nonsense)
{
	struct maker m = make(2, 20);

	assert_false(vet_git_index("", 0, 20, &hides));
	assert_false(vet_git_index("DIRC", 4, 20, &hides));
	add(&m, "a");
	add(&m, "b");
	extension(&m, "TREE", "", 0);
	assert_true(vet(&m));
	for (size_t len = 0; len < m.b.len; len++) {
		/* In a block of its own, so that an overread shows. */
		AUTO_FREE char *cut = xmalloc(len + 1);

		memcpy(cut, m.b.data, len);
		(void)vet_git_index(cut, len, 20, &hides);
	}
	m.b.data[7] = 5;
	assert_false(vet_git_index(m.b.data, m.b.len, 20, &hides));
	m.b.data[7] = 2;
	set32(&m.b, 8, 0xffffffff);
	assert_false(vet_git_index(m.b.data, m.b.len, 20, &hides));
	set32(&m.b, 8, 2);
	memcpy(m.b.data + m.b.len - 28, "treE", 4);
	assert_false(vet_git_index(m.b.data, m.b.len, 20, &hides)); /* an unknown extension */
	done(&m);
}

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

TEST(speed)
{
	struct maker m = make(2, 20);
	int64_t t;

	for (int i = 0; i < 10000; i++) {
		char name[128];

		snprintf(name, sizeof(name), "drivers/gpu/drm/amd/display/dc/core/some_file_%05d.c",
			 i);
		add(&m, name);
	}
	zeros(&m.b, 20);
	t = cpu_us();
	for (int i = 0; i < 10; i++)
		assert_true(vet_git_index(m.b.data, m.b.len, 20, &hides));
	t = (cpu_us() - t) / 10;
	print_message("# 10 000 entries: %lld us\n", (long long)t);
	assert_true(t < 20000); /* about 700 on an idle machine */
	done(&m);
}

/* ---- the rest of a rebase -------------------------------------------------------------------- */

static bool todo(const char *text, const char *old)
{
	return vet_git_rebase(text, strlen(text), old, old ? strlen(old) : 0);
}

TEST(todos)
{
	assert_true(todo("", NULL));
	assert_true(todo(
		"pick 1234 x\nr 12 exec\n  fixup -C 1 x\n# exec x\n\nlabel onto\nmerge -C 1 a # b\n"
		"update-ref refs/heads/x\nbreak\nnoop\n",
		NULL));
	assert_false(todo("pick 1 x\nexec id\n", NULL));
	assert_false(todo("pick 1 x\n\t x id\n", NULL));
	assert_false(todo("x\tid", NULL));
	assert_false(todo("exec", NULL));
	assert_false(todo("pick 1 x\n\fexec id\n", NULL));
	assert_false(todo("pick\vx\n", NULL));
	assert_false(vet_git_rebase("pick\0", 5, NULL, 0));
	assert_true(todo("exec make\npick 2 y\n", "pick 1 x\nexec make\npick 2 y\n"));
	assert_false(todo("exec make test\n", "exec make\n"));
}

static bool strategy(const char *text)
{
	return vet_git_strategy(text, strlen(text));
}

static bool options(const char *text)
{
	return vet_git_options(text, strlen(text));
}

TEST(strategies)
{
	static const char *const bad[] = {"",	   "\n",	 "a/x", "a/x\n", "ort\n\n",
					  " ort",  "ort x",	 "Ort", "ort/x", "../ort\n",
					  "ours ", "ort\na/x\n", "x"};
	static const char *const bad_options[] = {"[options]\n\tstrategy = a/x\n",
						  "[options]\nstrategy=\"a/x\"\n",
						  "[options] strategy = a/x\n",
						  "[Options]\nStrategy = x\n",
						  "[options]\nstrategy = or\\\nt\n",
						  "[options]\nedit = \\\n[x]\n",
						  "strategy = ort\n",
						  "[core]\nedit = true\n",
						  "[options \"x\"]\nstrategy = ort\n",
						  "[options]\ngpg-sign = x\n",
						  "[options]\nstrategy\n",
						  "\xef\xbb\xbf[options]\n",
						  "[include]\npath = x\n"};

	assert_true(strategy("ort") && strategy("ours\n") && strategy("subtree\n"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (strategy(bad[i]))
			fail_msg("strategy '%s'", bad[i]);
	assert_false(vet_git_strategy("ort\0", 4));
	assert_true(options("") && options("[options]\n\trecord-origin = true\n\tedit = false\n"
					   "\tstrategy = ort\n\tstrategy-option = theirs\n"));
	for (size_t i = 0; i < ARRAY_LEN(bad_options); i++)
		if (options(bad_options[i]))
			fail_msg("options '%s'", bad_options[i]);
}

TESTS(NULL, NULL)
