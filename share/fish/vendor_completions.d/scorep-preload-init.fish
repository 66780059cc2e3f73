# fish completion of scorep-preload-init; made by scripts/pages/command_pages.py
complete -c scorep-preload-init -l io -r -d 'posix or isoc: input and output'
complete -c scorep-preload-init -l thread -r -d 'pthread: threads of native code; omp: OpenMP, as --openmp, --opari and --pomp'
complete -c scorep-preload-init -l mpp -r -d 'mpi: calls of MPI'
complete -c scorep-preload-init -l compiler -d 'compiled code, built with -finstrument-functions'
complete -c scorep-preload-init -l value-only -d 'print only the value, without LD_PRELOAD='
complete -c scorep-preload-init -l clean -d 'print nothing: there are no files to remove'
complete -c scorep-preload-init -s h -d 'print this help'
complete -c scorep-preload-init -l help -d 'print this help'
