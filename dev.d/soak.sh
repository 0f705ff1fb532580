# Long runs of Python, PHP and C against the model of the contract: ./dev soak [--seconds N]
# Sourced by ../dev. The last line is for programs: soak: steps=N seconds=N differences=0

soak() {
    setup_programs
    setup_tools
    use_build
    python tests/model/soak.py "$@"
}
