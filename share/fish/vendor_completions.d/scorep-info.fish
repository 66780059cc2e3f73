# fish completion of scorep-info; made by scripts/pages/command_pages.py
complete -c scorep-info -l full -d 'with config-vars: also their meanings, types and defaults'
complete -c scorep-info -s h -d 'print this help'
complete -c scorep-info -l help -d 'print this help'
