/* fuzz_gate - requests of the kernel to the read gate, in any order, while the host changes. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "core/policy/policy.h"
#include "tests/support/fake_fuse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Four bytes of the input are one request, answer or change. The kernel follows its protocol: it
 * names nodes that it was told of and has not forgotten, and forgets none that is open or being
 * opened. At the end it forgets everything, and nothing may be left. */
#define NODES_AT_MOST 256
#define OPEN_AT_MOST  32

struct known {
	uint64_t id, lookups;
	size_t uses;
};
struct opened {
	size_t node; /* of known */
	bool dir, held;
	uint64_t handle; /* held: the keeper's id */
	uint64_t unique;
};

static struct known known[NODES_AT_MOST];
static struct opened opened[OPEN_AT_MOST];
static size_t n_known, n_opened;
static char *home, *tree;
static const char *const names[] = {"a", "b", "dir", "link", "c", "d", "e", "secret"};

struct op {
	uint8_t what, x, y, z;
};

/* ---- the host -------------------------------------------------------------------------------- */

static void fill(int dir, const char *name, size_t size)
{
	static const char text[8192];
	AUTO_CLOSE int fd = openat(dir, name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, text, MIN(size, sizeof(text))) < 0)
		abort();
}

static void change(struct op op)
{
	AUTO_CLOSE int dir = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *one = names[op.y % 5], *two = names[op.z % 5];

	switch (op.x % 6) {
	case 0:
		fill(dir, one, (size_t)op.z * 32);
		break;
	case 1:
		(void)!unlinkat(dir, one, 0);
		break;
	case 2:
		(void)!renameat(dir, one, dir, two);
		break;
	case 3:
		(void)!mkdirat(dir, one, 0700);
		break;
	case 4:
		(void)!symlinkat(two, dir, one);
		break;
	default:
		(void)!linkat(dir, one, dir, two, 0);
	}
}

/* ---- the kernel's memory --------------------------------------------------------------------- */

static size_t learn(uint64_t id)
{
	for (size_t i = 0; i < n_known; i++)
		if (known[i].id == id) {
			known[i].lookups++;
			return i;
		}
	if (n_known == NODES_AT_MOST)
		abort();
	known[n_known] = (struct known){.id = id, .lookups = 1};
	return n_known++;
}

static void forget(size_t i, uint64_t times)
{
	struct fuse_forget_in in = {.nlookup = times};

	fake_ask(FUSE_FORGET, known[i].id, &in, sizeof(in));
	known[i].lookups -= times;
	if (known[i].lookups)
		return;
	known[i] = known[--n_known];
	for (size_t o = 0; o < n_opened; o++)
		if (opened[o].node == n_known)
			opened[o].node = i;
}

static void look_up(size_t dir, struct op op)
{
	char raw[] = {(char)op.z, (char)op.x, '\0'};
	const char *name = op.y < 200 ? names[op.y % ARRAY_LEN(names)] : raw;
	struct fuse_entry_out e;
	struct fake_reply r;

	if (n_known == NODES_AT_MOST)
		return;
	r = fake_ask_name(FUSE_LOOKUP, known[dir].id, NULL, 0, name);
	if (!r.there)
		abort();
	if (r.error)
		return;
	memcpy(&e, r.data, sizeof(e));
	learn(e.nodeid);
}

static void learn_listing(struct fake_reply r)
{
	for (size_t i = 0; i < r.len;) {
		struct fuse_direntplus p;

		memcpy(&p, r.data + i, FUSE_NAME_OFFSET_DIRENTPLUS);
		i += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + p.dirent.namelen);
		if (i > r.len)
			abort();
		if (p.entry_out.nodeid)
			learn(p.entry_out.nodeid);
	}
}

/* ---- opens ----------------------------------------------------------------------------------- */

static void opened_as(struct opened *o, struct fake_reply r)
{
	struct fuse_open_out out;

	o->held = false;
	if (r.error == 0) {
		memcpy(&out, r.data, sizeof(out));
		o->handle = out.fh;
		return;
	}
	known[o->node].uses--;
	*o = opened[--n_opened];
}

static void open_node(size_t node, struct op op)
{
	struct fuse_open_in in = {.flags = O_RDONLY | (op.y & 4 ? 0x20u : 0)};
	bool dir = op.y & 1;
	struct gate_note note;
	struct fake_reply r;
	struct opened *o;

	if (n_opened == OPEN_AT_MOST)
		return;
	r = fake_ask(dir ? FUSE_OPENDIR : FUSE_OPEN, known[node].id, &in, sizeof(in));
	o = &opened[n_opened++];
	*o = (struct opened){.node = node, .dir = dir, .unique = fake.unique};
	known[node].uses++;
	if (r.there) {
		opened_as(o, r);
		return;
	}
	if (!fake_told(&note) || note.what != GATE_ASK)
		abort();
	o->held = true;
	o->handle = note.id;
}

static void answer(struct opened *o, int result)
{
	fake_answer(o->handle, result);
	opened_as(o, fake_hear());
}

static void release(struct opened *o)
{
	struct fuse_release_in in = {.fh = o->handle};

	fake_ask(o->dir ? FUSE_RELEASEDIR : FUSE_RELEASE, known[o->node].id, &in, sizeof(in));
	known[o->node].uses--;
	*o = opened[--n_opened];
}

static void read_from(const struct opened *o, struct op op)
{
	struct fuse_read_in in = {
		.fh = o->handle, .offset = (uint64_t)op.y * 64, .size = (uint32_t)op.z * 64};
	bool plus = o->dir && (op.y & 1) && n_known + op.z * 64u / 128 < NODES_AT_MOST;
	struct fake_reply r;

	if (o->dir) /* as the kernel does, only at the end of an entry: here the beginning */
		in.offset = 0;
	r = fake_ask(!o->dir ? FUSE_READ
		     : plus  ? FUSE_READDIRPLUS
			     : FUSE_READDIR,
		     known[o->node].id, &in, sizeof(in));
	if (!r.there || r.len > in.size)
		abort();
	if (plus && r.error == 0)
		learn_listing(r);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void inspect(size_t node, struct op op)
{
	uint64_t id = known[node].id;
	struct fuse_getattr_in attr = {0};
	struct fuse_access_in access = {.mask = op.z & 7};
	struct fuse_getxattr_in xattr = {.size = (uint32_t)op.z * 16};
	struct fake_reply r = {0};

	switch (op.y % 6) {
	case 0:
		r = fake_ask(FUSE_GETATTR, id, &attr, sizeof(attr));
		break;
	case 1:
		r = fake_ask(FUSE_READLINK, id, NULL, 0);
		break;
	case 2:
		r = fake_ask(FUSE_ACCESS, id, &access, sizeof(access));
		break;
	case 3:
		r = fake_ask(FUSE_STATFS, id, NULL, 0);
		break;
	case 4:
		r = fake_ask_name(FUSE_GETXATTR, id, &xattr, sizeof(xattr), "user.x");
		break;
	default:
		r = fake_ask(FUSE_LISTXATTR, id, &xattr, sizeof(xattr));
	}
	if (!r.there)
		abort();
}

static void rules(struct op op)
{
	static uint64_t given;
	AUTO_FREE char *all = xasprintf("%s/", tree);

	if (!given && (op.y & 1))
		given = fake_grant(RULE_READ, all);
	else if (given) {
		atomic_fetch_add(&fake.page.changes, 1);
		fake_say(&(struct gate_note){.id = given, .what = GATE_REVOKED}, 1);
		given = 0;
	}
}

static void interrupt(const struct opened *o)
{
	struct fuse_interrupt_in in = {.unique = o->unique};

	if (fake_ask(FUSE_INTERRUPT, 0, &in, sizeof(in)).there)
		abort(); /* this process must be alive */
}

static void on_opened(struct op op)
{
	struct opened *o = n_opened ? &opened[op.x % n_opened] : NULL;

	if (!o)
		return;
	if (!o->held)
		(op.y & 2 ? release(o) : read_from(o, op));
	else if (op.y & 2)
		answer(o, op.z & 1 ? -EACCES : 0);
	else
		interrupt(o);
}

static void do_one(struct op op)
{
	size_t node = op.x % n_known;

	switch (op.what % 8) {
	case 0:
	case 1:
		look_up(node, op);
		break;
	case 2:
		open_node(node, op);
		break;
	case 3:
	case 4:
		on_opened(op);
		break;
	case 5:
		inspect(node, op);
		break;
	case 6:
		if (node && !known[node].uses)
			forget(node, 1 + op.y % known[node].lookups);
		else
			rules(op);
		break;
	default:
		change(op);
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

static void remove_home(void)
{
	(void)!io_remove_tree(AT_FDCWD, home);
	free(home);
	free(tree);
	policy_free(fake.policy);
}

static void begin(void)
{
	struct policy_spec spec = {.dynamic = true};
	struct err err = {0};

	if (!tree) {
		const char *dir = getenv("TEST_TMP");
		AUTO_FREE char *cwd = getcwd(NULL, 0);

		home = xasprintf("%s/fuzz_gate.XXXXXX", dir ? dir : cwd);
		if (!mkdtemp(home) || atexit(remove_home))
			abort();
		tree = xasprintf("%s/tree", home);
		spec.home = home;
		if (policy_new(&fake.policy, &spec, &err) < 0)
			abort();
	}
	if (mkdir(tree, 0700) < 0)
		abort();
	for (int i = 0; i < 4; i++)
		change((struct op){.x = i == 2 ? 3 : 0, .y = (uint8_t)i, .z = 100});
	fake_begin(tree);
	known[0] = (struct known){.id = FUSE_ROOT_ID, .lookups = 1};
	n_known = 1;
	n_opened = 0;
}

static void end(void)
{
	while (n_opened) {
		if (opened[0].held)
			answer(&opened[0], -EACCES);
		else
			release(&opened[0]);
	}
	while (n_known > 1)
		forget(n_known / 2 ? n_known / 2 : 1, known[n_known / 2].lookups);
	if (fake.fs.tree.n || gate_held_events() != POLLIN || gate_held_wait_ms() == 20)
		abort(); /* known, not reported, interrupted */
	fake_end();
	if (io_remove_tree(AT_FDCWD, tree) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	for (size_t i = 0; i + 4 <= MIN(size, (size_t)256); i += 4)
		do_one((struct op){data[i], data[i + 1], data[i + 2], data[i + 3]});
	end();
	return 0;
}
