/* profile - a policy as a profile of Seatbelt: the order of its sections. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "backends/macos/profile/canonical.h"
#include "backends/macos/profile/profile_priv.h"

void profile_done(struct profile *p)
{
	sbpl_done(&p->sbpl);
}

bool profile_needs_file(const struct profile *p)
{
	return p->sbpl.text.len >= PROFILE_MAX_ARGUMENT;
}

/* ---- shared state ---------------------------------------------------------------------------- */

static void build_done(struct build *b)
{
	util_free_list(&b->folders);
	util_free_list(&b->read_only);
	util_free_list(&b->temp);
	util_free_list(&b->system);
	free(b->own);
	buf_done(&b->roots);
	policy_lines_free(b->lines, b->n_lines);
	policy_lines_free(b->untrusted, b->n_untrusted);
}

/* Makes the list of temporary directories, including the session's own. */
static int find_temp(struct build *b, struct err *err)
{
	const struct profile_spec *spec = b->spec;
	const char **all = NULL;
	size_t n = 0;
	int r;

	while (spec->temp && spec->temp[n])
		n++;
	all = xcalloc(n + 2, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = spec->temp[i];
	all[n] = spec->own;
	r = canonical_list(spec->os, all, &b->temp, err);
	free(all);
	if (r == 0 && spec->own)
		r = canonical_path(spec->os, spec->own, &b->own);
	return r;
}

static int find_places(struct build *b, struct err *err)
{
	const struct profile_spec *spec = b->spec;
	int r = canonical_list(spec->os, spec->folders, &b->folders, err);

	if (r == 0)
		r = canonical_list(spec->os, spec->read_only, &b->read_only, err);
	if (r == 0)
		r = canonical_list(spec->os, spec->system, &b->system, err);
	if (r == 0)
		r = find_temp(b, err);
	if (r < 0)
		return r;
	for (char *const *f = b->folders; *f; f++)
		if (!(*f)[1])
			return err_say(err, -EINVAL,
				       "/ cannot be a working folder: name one in it");
	return 0;
}

/* ---- sections -------------------------------------------------------------------------------- */

/* Writes the sections. A later one wins. */
static void put_sections(struct build *b)
{
	section_base(b);
	section_process(b);
	section_reads(b);
	section_read_lines(b);
	section_writes(b);
	section_write_lines(b);
	section_secrets(b);
	section_dangerous(b);
	section_last_lines(b);
	section_hidden(b);
	section_ways(b);
	section_exact(b);
	section_pty(b);
	section_network(b);
	section_sockets(b);
	mach_services_write(b->s, b->spec->services);
	section_mark(b);
}

int profile_build(struct profile *ret, const struct profile_spec *spec, struct err *err)
{
	struct profile p = {.sbpl = SBPL_INIT};
	struct build b = {.s = &p.sbpl, .spec = spec, .policy = spec->policy, .roots = BUF_INIT};
	int r = spec->services ? mach_services_check(spec->services, err) : 0;

	if (r == 0)
		r = find_places(&b, err);
	if (r == 0) {
		b.n_lines = policy_lines(b.policy, &b.lines);
		b.n_untrusted = policy_untrusted_lines(b.policy, &b.untrusted);
		find_roots(&b);
		put_sections(&b);
		p.skipped = b.skipped;
	}
	build_done(&b);
	if (r == 0 && p.sbpl.text.len > PROFILE_MAX_BYTES)
		r = err_say(
			err, -E2BIG,
			"the profile of the sandbox has %zu bytes, %u are possible: write fewer "
			"rules that deny reads, or name directories instead of files",
			p.sbpl.text.len, PROFILE_MAX_BYTES);
	if (r < 0) {
		profile_done(&p);
		return r;
	}
	*ret = p;
	return 0;
}
