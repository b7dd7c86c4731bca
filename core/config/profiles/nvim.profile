; nvim - Neovim. Its swap files, undo files and marks stay with the folder (toolchains.profile).
[profile]
	summary = Neovim
	command = nvim
	inherits = tools
[rule "nvim's settings"]
	allow = read ~/.config/nvim/**
	not-match = write ~/.config/nvim/init.lua
