; pip - Python. ~/.pypirc holds tokens: it stays hidden.
[profile]
	summary = Python with pip, uv, pipx, pyenv and conda
[rule "python"]
	allow = read,exec ~/.pyenv/**
	allow = read,exec ~/.local/lib/**
	allow = read,exec ~/.local/share/uv/**
	allow = read,exec ~/.local/share/pipx/**
	allow = read,exec ~/.local/pipx/**
	allow = read,exec ~/.virtualenvs/**
	allow = read,exec ~/miniconda3/**
	allow = read,exec ~/anaconda3/**
	allow = read,exec ~/miniforge3/**
	allow = read ~/.config/pip/pip.conf
	allow = connect pypi.org:443
	allow = connect files.pythonhosted.org:443
	match = read ~/.local/lib/python3.11/site-packages/x.py
	not-match = read ~/.pypirc
[sandbox]
	set-env = PIP_CACHE_DIR=$CORDON_CACHE/pip
	set-env = UV_CACHE_DIR=$CORDON_CACHE/uv
