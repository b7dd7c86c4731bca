; ccache - its settings. Compiled objects are in ~/.cache/ccache (toolchains.profile).
[profile]
	summary = ccache and sccache
[rule "ccache"]
	allow = read ~/.config/ccache/ccache.conf
	match = read ~/.config/ccache/ccache.conf
