/* test_net_host - all forms of a host are one; patterns match exactly; owners of domains. */
/* SPDX-License-Identifier: MIT */
#include "core/net/host.h"
#include "tests/support/check.h"

static const char *folded(const char *text)
{
	static char out[NET_TARGET_TEXT];
	struct net_target t;
	const char *why = "";

	if (!net_target_parse(&t, text, &why))
		return why;
	net_target_format(&t, out);
	return out;
}

TEST(one_host_has_one_text)
{
	static const char *const forms[][2] = {
		{"Registry.NPMJS.org.:443", "registry.npmjs.org:443"},
		{"127.1", "127.0.0.1"},
		{"0x7f000001:80", "127.0.0.1:80"},
		{"2130706433", "127.0.0.1"},
		{"0177.0.0.01", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1"},
		{"::ffff:127.0.0.1", "127.0.0.1"},
		{"[::ffff:7f00:1]:80", "127.0.0.1:80"},
		{"::127.0.0.1", "127.0.0.1"},
		{"[0:0:0:0:0:0:0:1]:22", "[::1]:22"},
		{"2001:DB8::0:1", "2001:db8::1"},
		{"0", "0.0.0.0"},
		{"_http._tcp.example.com", "_http._tcp.example.com"},
		{"B\303\234CHER.example:1", "xn--bcher-kva.example:1"},
		{"b\357\274\216example", "b.example"}, /* a full-width dot */
		{"\357\274\221\357\274\222\357\274\227.1", "127.0.0.1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		assert_string_equal(folded(forms[i][0]), forms[i][1]);
}

TEST(what_is_no_host_is_refused)
{
	static const char *const forms[] = {
		"",	      ".",    "a..b",	".a",	       "a b",	  "a\r\nb", "a%62",
		"fe80::1%lo", "a/b",  "a@b",	"a:0",	       "a:65536", "a:-1",   "a:",
		"a:1x",	      "[::1", "[::1]x", "127.0.0.1 x", "a\tb",	  "a:1:b",  "a\\b",
		"[a b]:1",    "a,b",  "*.a",	"a\001b",
	};
	struct net_host h;
	char label[80] = "", whole[300] = "";

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct net_target t;

		if (net_target_parse(&t, forms[i], NULL))
			fail_msg("'%s' is taken", forms[i]);
	}
	assert_false(net_host_parse(&h, "a\0b", 3, NULL));
	memset(label, 'a', 64);
	assert_false(net_host_parse(&h, label, 64, NULL));
	assert_true(net_host_parse(&h, label, 63, NULL));
	for (size_t i = 0; i < 254; i++)
		whole[i] = i % 2 ? '.' : 'a';
	assert_false(net_host_parse(&h, whole, 255, NULL));
	assert_true(net_host_parse(&h, whole, 253, NULL));
}

static bool matches(const char *pattern, const char *target)
{
	struct net_pattern p;
	struct net_target t;
	const char *why = NULL;

	if (!net_pattern_parse(&p, pattern, &why))
		fail_msg("'%s': %s", pattern, why);
	assert_true(net_target_parse(&t, target, &why));
	return net_pattern_matches(&p, &t);
}

TEST(patterns_match_what_they_say)
{
	static const struct {
		const char *pattern, *target;
		bool want;
	} cases[] = {
		{"a.b:443", "A.b.:443", true},
		{"a.b:443", "a.b:80", false},
		{"a.b", "a.b:80", true},
		{"*.b", "x.a.b:1", true},
		{"*.b", "b:1", false},
		{"*.b", "xb:1", false},
		{"*.b", "b.evil:1", false},
		{"a.b:80-90", "a.b:90", true},
		{"a.b:80-90", "a.b:91", false},
		{"a.b:*", "a.b:1", true},
		{"*", "x:1", true},
		{"*", "1.2.3.4:1", true},
		{"*:443", "x:80", false},
		{"10.0.0.0/8", "10.9.8.7:22", true},
		{"10.0.0.0/8", "11.0.0.0:22", false},
		{"10.0.0.0/8", "::ffff:10.1.1.1", true},
		{"012.1/8", "10.9.9.9:1", true},
		{"127.1", "0x7f000001", true},
		{"2001:db8::/32", "2001:db8:1::1", true},
		{"2001:db8::/33", "2001:db8:8000::1", false},
		{"[2001:db8::/32]:80", "[2001:db8::5]:80", true},
		{"10.0.0.0/8", "ten.example:1", false},
		{"a.b:443", "a.b", true}, /* the port is not known at this point */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (matches(cases[i].pattern, cases[i].target) != cases[i].want)
			fail_msg("%s and %s", cases[i].pattern, cases[i].target);
}

TEST(impossible_patterns_say_why)
{
	static const char *const list[] = {"a*.b",     "*.1.2.3.4", "1.2.3.4/33", "a/8",
					   "1.2.3.4/", "a:9-1",	    "**",	  "*.",
					   "a:b",      "http://a",  "1.2.3.4/x",  ""};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct net_pattern p;
		const char *why = NULL;

		if (net_pattern_parse(&p, list[i], &why))
			fail_msg("'%s' is taken", list[i]);
		assert_non_null(why);
	}
}

TEST(a_pattern_has_its_parts)
{
	static const struct {
		const char *text;
		enum net_pattern_kind kind;
		const char *name; /* or address */
		unsigned bits;
		uint16_t from, to;
	} list[] = {
		{"*", NET_ANY, "", 0, 1, UINT16_MAX},
		{"*:443", NET_ANY, "", 0, 443, 443},
		{"*.b:1-2", NET_DOMAIN, "b", 0, 1, 2},
		{"a.b", NET_NAME, "a.b", 0, 1, UINT16_MAX},
		{"10.0.0.0/8", NET_ADDRS, "10.0.0.0", 104, 1, UINT16_MAX},
		{"10.0.0.1:22", NET_ADDRS, "10.0.0.1", 128, 22, 22},
		{"2001:db8::/32", NET_ADDRS, "2001:db8::", 32, 1, UINT16_MAX},
		{"[2001:db8::/32]:80", NET_ADDRS, "2001:db8::", 32, 80, 80},
		{"::1", NET_ADDRS, "::1", 128, 1, UINT16_MAX},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		char addr[NET_ADDR_TEXT];
		struct net_pattern p;

		assert_true(net_pattern_parse(&p, list[i].text, NULL));
		assert_int_equal(p.kind, list[i].kind);
		net_addr_format(&p.addr, addr);
		assert_string_equal(p.kind == NET_ADDRS ? addr : p.name, list[i].name);
		if (p.kind == NET_ADDRS)
			assert_int_equal(p.bits, list[i].bits);
		assert_int_equal(p.from, list[i].from);
		assert_int_equal(p.to, list[i].to);
	}
}

TEST(addresses_have_a_class)
{
	static const struct {
		const char *text;
		enum net_class want;
	} cases[] = {
		{"8.8.8.8", NET_PUBLIC},
		{"127.9.9.9", NET_LOOPBACK},
		{"::1", NET_LOOPBACK},
		{"0.0.0.0", NET_OTHER},
		{"::", NET_OTHER},
		{"10.1.2.3", NET_PRIVATE},
		{"172.16.0.1", NET_PRIVATE},
		{"172.32.0.1", NET_PUBLIC},
		{"192.168.1.1", NET_PRIVATE},
		{"100.64.0.1", NET_PRIVATE},
		{"169.254.1.1", NET_LINK_LOCAL},
		{"169.254.169.254", NET_METADATA},
		{"168.63.129.16", NET_METADATA},
		{"fd00:ec2::254", NET_METADATA},
		{"fd12::1", NET_PRIVATE},
		{"fe80::1", NET_LINK_LOCAL},
		{"224.0.0.1", NET_OTHER},
		{"255.255.255.255", NET_OTHER},
		{"2606:4700::1111", NET_PUBLIC},
		{"64:ff9b::7f00:1", NET_LOOPBACK},
		{"64:ff9b::808:808", NET_PUBLIC},
		{"2002:a00:1::", NET_PRIVATE},
		{"2001:0:4136:e378:8000:63bf:f5ff:fffe", NET_PRIVATE}, /* 10.0.0.1 by Teredo */
		{"2001:0:4136:e378:8000:63bf:f7f7:f7f7", NET_PUBLIC},
		{"::ffff:192.168.0.1", NET_PRIVATE},
		{"198.18.0.1", NET_OTHER},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct net_addr a;

		assert_true(net_addr_parse(&a, cases[i].text, strlen(cases[i].text)));
		if (net_addr_class(&a) != cases[i].want)
			fail_msg("%s: %d", cases[i].text, net_addr_class(&a));
	}
}

TEST(a_public_suffix_is_nobodys_domain)
{
	const char *d;

	if (!net_registered_domain("registry.npmjs.org", &d))
		skip(); /* no libpsl on this machine */
	assert_string_equal(d, "npmjs.org");
	assert_true(net_registered_domain("a.b.example.co.uk", &d));
	assert_string_equal(d, "example.co.uk");
	assert_false(net_registered_domain("co.uk", &d));
	assert_false(net_registered_domain("github.io", &d));
}

TESTS(NULL, NULL)
