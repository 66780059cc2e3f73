# For bash and zsh: puts the commands of this installation first on PATH.
#
#     source PREFIX/share/omnitrace/setup-env.sh
#
# Other shells do not tell a script where it lies; there, omnitrace_ROOT has to be PREFIX.
if [ -n "${BASH_SOURCE:-}" ]; then
    _omnitrace_file=$BASH_SOURCE
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_omnitrace_file=${(%):-%x}'
else
    _omnitrace_file=${omnitrace_ROOT:-}/share/omnitrace/setup-env.sh
fi
_omnitrace_root=$(cd "$(dirname "$_omnitrace_file")/../.." 2>/dev/null && pwd)
if [ -x "$_omnitrace_root/bin/omnitrace-python" ]; then
    export omnitrace_ROOT="$_omnitrace_root"
    export PATH="$_omnitrace_root/bin:$PATH"
    unset _omnitrace_file _omnitrace_root
else
    echo "omnitrace: there is no omnitrace-python in ${_omnitrace_root:-.}/bin; set omnitrace_ROOT to the prefix of the installation" >&2
    unset _omnitrace_file _omnitrace_root
    false
fi
